package main

import (
	"fmt"
	"os"
	"sync"
)

// floor acts like a scheduler that needs no time to decide. For every preemptor that appears it makes the calls
// of a correct preemption, in the order that survives a crash: nomination and the victims' conditions, then the
// deletes, then the bind. Preemptors are served in order of arrival, so many at a time; calls of one step go
// out together. bare leaves out the first step.
func floor(client, watcher *Client, inFlight int, bare bool) error {
	watch, err := watcher.watchPods(selector("high"))
	if err != nil {
		return err
	}
	arrived := make(chan preemptor, 1<<16)
	for range inFlight {
		go func() {
			for one := range arrived {
				if err := serve(client, one, bare); err != nil {
					fmt.Fprintln(os.Stderr, "driver:", err)
				}
			}
		}()
	}
	return watch.follow(func(event podEvent) {
		if event.Type != "ADDED" {
			return
		}
		if index, found := preemptorIndex(event); found {
			arrived <- preemptor{event.Object.Metadata.Name, index}
		}
	})
}

type preemptor struct {
	name  string
	index int
}

func serve(client *Client, one preemptor, bare bool) error {
	index := one.index
	if !bare {
		steps := []func() error{func() error {
			nomination := fmt.Appendf(nil, `{"status":{"nominatedNodeName":%q}}`, nodeName(index))
			return client.call("PATCH", podPath(one.name, "/status"), mergePatch, nomination)
		}}
		for victim := range victimsPerPod {
			steps = append(steps, func() error {
				return client.call("PATCH", podPath(lowName(index, victim), "/status"), mergePatch, disruptionTarget)
			})
		}
		if err := together(steps); err != nil {
			return err
		}
	}
	steps := []func() error{}
	for victim := range victimsPerPod {
		steps = append(steps, func() error {
			return client.call("DELETE", podPath(lowName(index, victim), ""), plainJSON, nil)
		})
	}
	if err := together(steps); err != nil {
		return err
	}
	binding := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},`+
		`"target":{"kind":"Node","name":%q}}`, one.name, nodeName(index))
	return client.call("POST", podPath(one.name, "/binding"), plainJSON, binding)
}

var disruptionTarget = []byte(`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True",` +
	`"reason":"PreemptionByScheduler","message":"floor: preempting to accommodate a higher priority pod"}]}}`)

// together runs all steps at once and returns the first error.
func together(steps []func() error) error {
	var group sync.WaitGroup
	errors := make([]error, len(steps))
	for index, step := range steps {
		group.Add(1)
		go func() {
			defer group.Done()
			errors[index] = step()
		}()
	}
	group.Wait()
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}
