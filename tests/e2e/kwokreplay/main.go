// Replays a KWOK recording into a cluster, with KWOK's own code: what `kwokctl snapshot replay` does between finding the
// cluster and starting its components again, for a cluster that kwokctl has not made.
//
//	kwokreplay KUBECONFIG ETCD RECORDING
//
// KWOK writes past the API server, into etcd. It only warns of what it cannot apply; here that is a failure.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/kwok/pkg/kwokctl/etcd"
	"sigs.k8s.io/kwok/pkg/kwokctl/recording"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/client"
	"sigs.k8s.io/kwok/pkg/utils/yaml"
)

func replay(kubeconfig, endpoint, path string) error {
	var said strings.Builder
	ctx := log.NewContext(context.Background(), log.NewLogger(&said, log.LevelWarn))
	clientset, err := client.NewClientset("", kubeconfig)
	if err != nil {
		return err
	}
	store, err := etcd.NewClient(etcd.ClientConfig{Endpoints: []string{endpoint}})
	if err != nil {
		return err
	}
	loader, err := etcd.NewLoader(etcd.LoadConfig{Clientset: clientset, Client: store, Prefix: "/registry"})
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	start := time.Now()
	decoder := yaml.NewDecoder(recording.NewReadHook(file, func(line []byte) []byte {
		return recording.RevertTimeFromRelative(start, line)
	}))
	if err := loader.Load(ctx, decoder); err != nil {
		return err
	}
	if err := loader.Replay(ctx, decoder); err != nil {
		return err
	}
	if said.Len() > 0 {
		return fmt.Errorf("not all of it was applied:\n%s", said.String())
	}
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: kwokreplay KUBECONFIG ETCD RECORDING")
		os.Exit(2)
	}
	if err := replay(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		slog.Error("replay", "err", err)
		os.Exit(1)
	}
}
