package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

// Result is what one run came to. Times are seconds from the first create; a pod's wait runs from the moment
// its own create was sent (where a controller makes it: a watch showed it) to the moment a watch showed its node.
type Result struct {
	Preemptors int     `json:"preemptors"`
	Bound      int     `json:"bound"`
	Victims    int     `json:"victims"`
	Crowded    int     `json:"crowded"` // nodes that got more than one preemptor
	GangsLost  int     `json:"gangsLost"`
	Broken     int     `json:"gangsBroken"` // gangs that lost some pods and kept others
	CreatedS   float64 `json:"createdS"`
	FirstLossS float64 `json:"firstLossS"` // the first victim began to go
	FirstBindS float64 `json:"firstBindS"`
	LastBindS  float64 `json:"lastBindS"`
	MedianS    float64 `json:"medianWaitS"`
	P99S       float64 `json:"p99WaitS"`
}

// ledger collects what the watch says. Guarded by its mutex.
type ledger struct {
	mutex   sync.Mutex
	seen    map[string]time.Time // by preemptor
	bound   map[string]time.Time // by preemptor
	node    map[string]int       // preemptors by node
	victims map[string]struct{}  // UIDs of low pods that went
	gangs   map[string]int       // of those, by gang
	sizes   map[string]int       // of gangs that lost somebody
	loss    time.Time            // the first
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
			book.noteLoss(pod.Metadata.UID, pod.Metadata.Labels, now)
		}
	case "high":
		if _, known := book.seen[pod.Metadata.Name]; !known {
			book.seen[pod.Metadata.Name] = now
		}
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

func (book *ledger) noteLoss(uid string, labels map[string]string, now time.Time) {
	if _, known := book.victims[uid]; known {
		return
	}
	if len(book.victims) == 0 {
		book.loss = now
	}
	book.victims[uid] = struct{}{}
	if gang := labels[gangLabel]; gang != "" {
		book.gangs[gang]++
		book.sizes[gang], _ = strconv.Atoi(labels[sizeLabel])
	}
}

// measure creates the pods at once and waits until all are bound. body makes the one with this index; with a job, its
// controller makes them all.
func measure(client, watcher *Client, pods, inFlight int, deadline time.Duration, job []byte, body func(int) []byte) error {
	watch, err := watcher.watchPods("")
	if err != nil {
		return err
	}
	book := &ledger{seen: map[string]time.Time{}, bound: map[string]time.Time{}, node: map[string]int{}, victims: map[string]struct{}{},
		gangs: map[string]int{}, sizes: map[string]int{}, done: make(chan struct{}), wanted: pods}
	broken := make(chan error, 1)
	go func() { broken <- watch.follow(book.note) }()

	sent := make([]time.Time, pods)
	start := time.Now()
	if job != nil {
		sent = nil
		err = client.call("POST", jobsPath, plainJSON, job)
	} else {
		err = forEach(pods, inFlight, func(index int) error {
			sent[index] = time.Now()
			return client.call("POST", podsPath(), plainJSON, body(index))
		})
	}
	if err != nil {
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
		Preemptors: book.wanted,
		Bound:      len(book.bound),
		Victims:    len(book.victims),
		CreatedS:   created.Seconds(),
	}
	waits := []float64{}
	for index := range sent {
		book.seen[preemptorName(index)] = sent[index]
	}
	for name, bound := range book.bound {
		waits = append(waits, bound.Sub(book.seen[name]).Seconds())
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
	result.GangsLost = len(book.gangs)
	for gang, lost := range book.gangs {
		if lost < book.sizes[gang] {
			result.Broken++
		}
	}
	if len(book.victims) > 0 {
		result.FirstLossS = book.loss.Sub(start).Seconds()
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
