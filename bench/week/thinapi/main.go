// Thinapi is a stand-in for an API server with controllers and kubelets, in memory, and thin enough for thousands of pods
// a second: what a scheduler's own memory and processor time do over a million pods is seen in minutes.
//
//	thinapi -listen 127.0.0.1:8001 -nodes 1000 -rate 1000 -pods 1000000
//
// Prints a line of JSON when it listens, one for every -every pods bound, and ends after -pods.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8001", "address")
	nodes := flag.Int("nodes", 1000, "nodes")
	rate := flag.Float64("rate", 1000, "pods a second")
	pods := flag.Int("pods", 1_000_000, "pods in all")
	every := flag.Int("every", 10_000, "pods between two lines")
	flag.Parse()

	store := newStore()
	life := &Life{store: store, dice: rand.New(rand.NewSource(1)), of: map[string]*owner{}}
	store.mu.Lock()
	store.put("namespaces", Object{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{"name": "default", "uid": "ns-default"}})
	store.put("priorityclasses", priorityClass("low", 0))
	store.put("priorityclasses", priorityClass("high", 1000))
	for i := range *nodes {
		store.put("nodes", node(fmt.Sprintf("n%04d", i)))
	}
	store.mu.Unlock()

	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(`{"listens":true}`)
	go http.Serve(listener, &Server{store, life})
	begun := time.Now()
	allowed, told := 0.0, 0
	last := begun
	for {
		time.Sleep(10 * time.Millisecond)
		store.mu.Lock()
		if life.bound >= *pods {
			return
		}
		now := time.Now()
		// Whoever is behind gets no more: a backlog would be measured instead of churn.
		if waiting := life.made - life.bound; waiting < int(*rate)+1000 {
			allowed += *rate * now.Sub(last).Seconds()
		}
		last = now
		// On top of a wave there is too little room, below there is enough.
		wave := 1 + 0.25*math.Sin(now.Sub(begun).Seconds()*2*math.Pi/20)
		life.step(int(allowed), fills*wave*float64(*nodes*milliPerNode))
		store.changed.Broadcast()
		if life.bound/(*every) > told {
			told = life.bound / *every
			line, _ := json.Marshal(map[string]any{"bound": life.bound, "made": life.made, "evicted": life.evicts,
				"pods": len(store.objects["pods"]), "seconds": now.Sub(begun).Seconds()})
			fmt.Println(string(line))
		}
		store.mu.Unlock()
	}
}
