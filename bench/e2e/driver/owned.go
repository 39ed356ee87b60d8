package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// With -owned all pods belong to controllers, which must run: the low pods to Deployments, whose controllers make new
// ones for those that go (and find no room for them), the preemptors to one Job, whose controller creates them.

const (
	nodesPerDeployment = 100
	templateHash       = "pod-template-hash"
	indexLabel         = "batch.kubernetes.io/job-completion-index"
	jobsPath           = "/apis/batch/v1/namespaces/" + namespace + "/jobs"
	setsPath           = "/apis/apps/v1/namespaces/" + namespace + "/replicasets"
	deploymentsPath    = "/apis/apps/v1/namespaces/" + namespace + "/deployments"
)

// loadOwned is load, with Deployments. The controllers must not run yet: they would make the pods themselves, anywhere.
func loadOwned(client *Client, nodes, inFlight int, scheduler string) error {
	if err := loadNodes(client, nodes, inFlight); err != nil {
		return err
	}
	groups := (nodes + nodesPerDeployment - 1) / nodesPerDeployment
	sets := make([]string, groups)
	if err := forEach(groups, inFlight, func(group int) error {
		size := min(nodesPerDeployment, nodes-group*nodesPerDeployment) * podsPerNode
		uid, err := createReplicaSet(client, group, size, scheduler)
		sets[group] = uid
		return err
	}); err != nil {
		return err
	}
	return forEach(nodes*podsPerNode, inFlight, func(index int) error {
		node, pod := index%nodes, index/nodes
		group := node / nodesPerDeployment
		meta := fmt.Sprintf(`{"name":%q,"labels":%s,"ownerReferences":[%s]}`, lowName(node, pod), lowLabels(group),
			owner("apps/v1", "ReplicaSet", setName(group), sets[group]))
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":%s,"spec":{"nodeName":%q,%s}`,
			meta, nodeName(node), lowSpec(scheduler)[1:])
		return client.call("POST", podsPath(), plainJSON, body)
	})
}

// createReplicaSet makes a Deployment and the ReplicaSet that its controller would make, and returns the latter's UID.
func createReplicaSet(client *Client, group, size int, scheduler string) (string, error) {
	app := fmt.Sprintf(`"app":"low-%d",%q:"low"`, group, role)
	deployment := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"low-%d"},"spec":`+
		`{"replicas":%d,"selector":{"matchLabels":{%s}},"template":{"metadata":{"labels":{%s}},"spec":%s}}}`,
		group, size, app, app, lowSpec(scheduler))
	uid, err := client.create(deploymentsPath, deployment)
	if err != nil {
		return "", err
	}
	set := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":%q,"labels":%s,`+
		`"annotations":{"deployment.kubernetes.io/revision":"1"},"ownerReferences":[%s]},"spec":{"replicas":%d,`+
		`"selector":{"matchLabels":%s},"template":{"metadata":{"labels":%s},"spec":%s}}}`,
		setName(group), lowLabels(group), owner("apps/v1", "Deployment", fmt.Sprintf("low-%d", group), uid), size,
		lowLabels(group), lowLabels(group), lowSpec(scheduler))
	return client.create(setsPath, set)
}

func setName(group int) string { return fmt.Sprintf("low-%d-first", group) }

func lowLabels(group int) string {
	return fmt.Sprintf(`{"app":"low-%d",%q:"low",%q:"first"}`, group, role, templateHash)
}

func lowSpec(scheduler string) string {
	return fmt.Sprintf(`{"schedulerName":%q,"terminationGracePeriodSeconds":0,"containers":[%s]}`, scheduler,
		container(fmt.Sprintf("%dm", lowMilliCPU)))
}

func owner(version, kind, name, uid string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}`,
		version, kind, name, uid)
}

func preemptorJob(pods int, scheduler string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"high"},"spec":{"parallelism":%d,`+
		`"completions":%d,"completionMode":"Indexed","template":{"metadata":{"labels":{%q:"high"}},"spec":`+
		`{"priorityClassName":%q,"schedulerName":%q,"terminationGracePeriodSeconds":0,"restartPolicy":"Never",`+
		`"containers":[%s]}}}}`, pods, pods, role, priorityClass, scheduler, container(preemptorCPU))
}

// create returns the UID of what it made.
func (client *Client) create(path string, body []byte) (string, error) {
	response, err := client.send("POST", path, plainJSON, body)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var made struct {
		Metadata struct{ UID string }
		Message  string
	}
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil {
		return "", err
	}
	if response.StatusCode >= 400 {
		return "", fmt.Errorf("POST %s: %d %s", path, response.StatusCode, made.Message)
	}
	return made.Metadata.UID, nil
}

// preemptorIndex is which preemptor a pod is; false: none.
func preemptorIndex(event podEvent) (int, bool) {
	text, found := event.Object.Metadata.Labels[indexLabel]
	if !found {
		text = event.Object.Metadata.Name[min(len("high-"), len(event.Object.Metadata.Name)):]
	}
	index, err := strconv.Atoi(text)
	return index, err == nil && event.Object.Metadata.Labels[role] == "high"
}
