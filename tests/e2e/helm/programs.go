//go:build programs

// Package programs names the program that is built from Helm's own module: the tests of the chart render it with what
// people use.
package programs

import _ "helm.sh/helm/v3/cmd/helm"
