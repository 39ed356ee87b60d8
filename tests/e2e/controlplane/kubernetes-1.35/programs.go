//go:build programs

// Package programs names the programs that are built from k8s.io/kubernetes, so that go.mod keeps
// everything they need. The tag is never set: nothing here is compiled, the programs are built by path.
package programs

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
