package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"
)

// Result is what one run came to. Times are seconds from the first create; a pod's wait runs from the moment
// its own create was sent to the moment a watch showed its node.
type Result struct {
	Preemptors int     `json:"preemptors"`
	Bound      int     `json:"bound"`
	Victims    int     `json:"victims"`
	Crowded    int     `json:"crowded"` // nodes that got more than one preemptor
	CreatedS   float64 `json:"createdS"`
	FirstBindS float64 `json:"firstBindS"`
	LastBindS  float64 `json:"lastBindS"`
	MedianS    float64 `json:"medianWaitS"`
	P99S       float64 `json:"p99WaitS"`
}

// ledger collects what the watch says. Guarded by its mutex.
type ledger struct {
	mutex   sync.Mutex
	bound   map[string]time.Time // by preemptor
	node    map[string]int       // preemptors by node
	victims map[string]struct{}  // UIDs of low pods that went
	done    chan struct{}        // closed when all are bound
	wanted  int
}

func (book *ledger) note(event podEvent) {
	now := time.Now()
	book.mutex.Lock()
	defer book.mutex.Unlock()
	pod := &event.Object
	switch pod.Metadata.Labels[role] {
	case "low":
		if event.Type == "DELETED" || pod.Metadata.DeletionTimestamp != "" {
			book.victims[pod.Metadata.UID] = struct{}{}
		}
	case "high":
		if _, known := book.bound[pod.Metadata.Name]; known || pod.Spec.NodeName == "" {
			return
		}
		book.bound[pod.Metadata.Name] = now
		book.node[pod.Spec.NodeName]++
		if len(book.bound) == book.wanted {
			close(book.done)
		}
	}
}

func measure(client, watcher *Client, pods, inFlight int, scheduler string, deadline time.Duration) error {
	watch, err := watcher.watchPods("")
	if err != nil {
		return err
	}
	book := &ledger{bound: map[string]time.Time{}, node: map[string]int{}, victims: map[string]struct{}{},
		done: make(chan struct{}), wanted: pods}
	broken := make(chan error, 1)
	go func() { broken <- watch.follow(book.note) }()

	sent := make([]time.Time, pods)
	start := time.Now()
	if err := forEach(pods, inFlight, func(index int) error {
		sent[index] = time.Now()
		return client.call("POST", podsPath(), plainJSON, preemptorBody(index, scheduler))
	}); err != nil {
		return err
	}
	created := time.Since(start)

	var timeout <-chan time.Time
	if deadline > 0 {
		timeout = time.After(deadline)
	}
	select {
	case <-book.done:
	case <-timeout:
	case err := <-broken:
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(book.sum(start, created, sent))
}

func (book *ledger) sum(start time.Time, created time.Duration, sent []time.Time) Result {
	book.mutex.Lock()
	defer book.mutex.Unlock()
	result := Result{
		Preemptors: len(sent),
		Bound:      len(book.bound),
		Victims:    len(book.victims),
		CreatedS:   created.Seconds(),
	}
	waits := []float64{}
	for index := range sent {
		bound, found := book.bound[preemptorName(index)]
		if !found {
			continue
		}
		waits = append(waits, bound.Sub(sent[index]).Seconds())
		since := bound.Sub(start).Seconds()
		if result.FirstBindS == 0 || since < result.FirstBindS {
			result.FirstBindS = since
		}
		result.LastBindS = max(result.LastBindS, since)
	}
	for _, count := range book.node {
		if count > 1 {
			result.Crowded++
		}
	}
	if len(waits) == 0 {
		fmt.Fprintln(os.Stderr, "driver: nothing was bound")
		return result
	}
	sort.Float64s(waits)
	result.MedianS = waits[len(waits)/2]
	result.P99S = waits[min(len(waits)-1, len(waits)*99/100)]
	return result
}
