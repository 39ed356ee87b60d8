// Command driver makes and measures the end-to-end preemption benchmark on a real API server.
//
//	driver load     N nodes of 4 CPU, each with four pods of 900m (-pods-per-node), bound from the start
//	driver measure  creates the preemptors at once, and says as JSON when each was bound and who had to go
//	driver floor    the floor: a "scheduler" that knows every answer and only makes the calls
//
// With -owned all pods belong to controllers; see owned.go.
// With -gangs, load fills GPU nodes with gangs, and measure creates one gang that needs a row; see gangs.go.
//
// It is written in Go with nothing but the standard library so that it takes little of the machine it measures.
package main

import (
	"flag"
	"fmt"
	"os"
)

// Names that load, measure and floor agree on: preemptor i belongs on node i and displaces the pods low-i-0..2.
const (
	namespace     = "default"
	podsPerNode   = 4
	victimsPerPod = 3
	lowMilliCPU   = 900
	preemptorCPU  = "3000m"
	priorityClass = "preemptor"
	role          = "role"
)

func nodeName(index int) string      { return fmt.Sprintf("node-%d", index) }
func lowName(node, index int) string { return fmt.Sprintf("low-%d-%d", node, index) }
func preemptorName(index int) string { return fmt.Sprintf("high-%d", index) }
func podPath(name, sub string) string {
	return "/api/v1/namespaces/" + namespace + "/pods/" + name + sub
}
func podsPath() string             { return "/api/v1/namespaces/" + namespace + "/pods" }
func selector(value string) string { return "labelSelector=" + role + "%3D" + value }
func fail(err error)               { fmt.Fprintln(os.Stderr, "driver:", err); os.Exit(1) }

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("needs one of: load, measure, floor"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	server := flags.String("server", "", "URL of the API server")
	authority := flags.String("ca", "", "PEM file of its authority")
	token := flags.String("token-file", "", "file that holds a bearer token")
	nodes := flags.Int("nodes", 1000, "load: nodes")
	perNode := flags.Int("pods-per-node", podsPerNode, "load: pods on each node; measure and floor need the default")
	pods := flags.Int("preemptors", 1000, "measure: pods to create; load: members of the gang that will come")
	inFlight := flags.Int("in-flight", 32, "calls at a time (load, measure) or preemptors at a time (floor)")
	scheduler := flags.String("scheduler-name", "default-scheduler", "load, measure: schedulerName of the pods")
	deadline := flags.Duration("deadline", 0, "measure: give up after this long (0 = never)")
	bare := flags.Bool("bare", false, "floor: deletes and bind only")
	owned := flags.Bool("owned", false, "load, measure: all pods belong to Deployments and a Job; see owned.go")
	gangs := flags.String("gangs", "", "load, measure: gangs in this dialect (core, volcano) instead of single pods")
	_ = flags.Parse(os.Args[2:])

	how, known := dialects[*gangs]
	if *gangs != "" && !known {
		fail(fmt.Errorf("unknown dialect %q", *gangs))
	}
	client, err := newClient(*server, *authority, *token)
	if err != nil {
		fail(err)
	}
	// A connection of its own, so that events do not queue behind answers.
	watcher, err := newClient(*server, *authority, *token)
	if err != nil {
		fail(err)
	}
	switch {
	case os.Args[1] == "load" && known:
		err = loadGangs(client, how, *nodes, *pods, *inFlight, *scheduler)
	case os.Args[1] == "load" && *owned:
		err = loadOwned(client, *nodes, *inFlight, *scheduler)
	case os.Args[1] == "load":
		err = load(client, *nodes, *perNode, *inFlight, *scheduler)
	case os.Args[1] == "measure" && known:
		err = measure(client, watcher, *pods, *inFlight, *deadline, nil, func(index int) []byte {
			return bigGangBody(how, index, *scheduler)
		})
	case os.Args[1] == "measure" && *owned:
		err = measure(client, watcher, *pods, *inFlight, *deadline, preemptorJob(*pods, *scheduler), nil)
	case os.Args[1] == "measure":
		err = measure(client, watcher, *pods, *inFlight, *deadline, nil, func(index int) []byte {
			return preemptorBody(index, *scheduler)
		})
	case os.Args[1] == "floor":
		err = floor(client, watcher, *inFlight, *bare)
	default:
		err = fmt.Errorf("unknown command %q", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}
