package main

import (
	"fmt"
)

// load fills an empty cluster: the priority class, the nodes, and running low pods on each that fill it.
// They are the scheduler's own: nobody else's pods are its to evict.
func load(client *Client, nodes, perNode, inFlight int, scheduler string) error {
	if err := loadNodes(client, nodes, inFlight); err != nil {
		return err
	}
	return forEach(nodes*perNode, inFlight, func(index int) error {
		// Round by round over the nodes, so that pods of one node differ in age as they would in life.
		node, pod := index%nodes, index/nodes
		return client.call("POST", podsPath(), plainJSON, lowBody(node, pod, podsPerNode*lowMilliCPU/perNode, scheduler))
	})
}

func loadNodes(client *Client, nodes, inFlight int) error {
	if err := client.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", plainJSON, classBody()); err != nil {
		return err
	}
	return forEach(nodes, inFlight, func(index int) error {
		return client.call("POST", "/api/v1/nodes", plainJSON, nodeBody(index))
	})
}

const nodeReady = `[{"type":"Ready","status":"True","reason":"KubeletReady"}]`

func classBody() []byte {
	return fmt.Appendf(nil, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",`+
		`"metadata":{"name":%q},"value":10}`, priorityClass)
}

func nodeBody(index int) []byte {
	capacity := `{"cpu":"4","memory":"32Gi","pods":"110"}`
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node",`+
		`"metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q}},`+
		`"status":{"capacity":%s,"allocatable":%s,"conditions":%s}}`,
		nodeName(index), nodeName(index), capacity, capacity, nodeReady)
}

func lowBody(node, index, milliCPU int, scheduler string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{%q:"low"}},`+
		`"spec":{"nodeName":%q,"schedulerName":%q,"terminationGracePeriodSeconds":0,"containers":[%s]}}`,
		lowName(node, index), role, nodeName(node), scheduler, container(fmt.Sprintf("%dm", milliCPU)))
}

func preemptorBody(index int, scheduler string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{%q:"high"}},`+
		`"spec":{"priorityClassName":%q,"schedulerName":%q,"terminationGracePeriodSeconds":0,"containers":[%s]}}`,
		preemptorName(index), role, priorityClass, scheduler, container(preemptorCPU))
}

func container(cpu string) string {
	return fmt.Sprintf(`{"name":"main","image":"none","resources":{"requests":{"cpu":%q,"memory":"500Mi"}}}`, cpu)
}
