//go:build programs

// Package programs names the program that is built from sigs.k8s.io/kwok. It has a module of its own
// because KWOK needs other versions of the kubelet packages than Kubernetes itself.
package programs

import _ "sigs.k8s.io/kwok/cmd/kwok"
