package main

import (
	"fmt"
	"math/rand"
	"time"
)

const (
	milliPerNode = 4000
	milliPerPod  = 500
	fills        = 0.85
	grace        = 50 * time.Millisecond
	started      = "2026-03-02T09:00:00Z"
)

// owner is a ReplicaSet or a Job with its pods, and its controller.
type owner struct {
	kind, name, uid string
	milli, priority int
	pods            map[string]Object // those that are not leaving
	set             Object            // the ReplicaSet; Jobs are nobody's business
	over            bool
}

// Life makes owners at a rate and ends them after a while, as their controllers and kubelets would.
type Life struct {
	store  *Store
	dice   *rand.Rand
	owners []*owner
	of     map[string]*owner // by the pod's UID
	milli  int               // of everything that is not over
	next   int
	made   int
	bound  int
	evicts int
}

// uid is as random as those of a real server, and no less wide.
func (l *Life) uid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", l.dice.Uint32(), l.dice.Intn(1<<16), l.dice.Intn(1<<12), l.dice.Intn(1<<12), l.dice.Int63n(1<<48))
}

func (l *Life) suffix(length int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, length)
	for i := range out {
		out[i] = letters[l.dice.Intn(len(letters))]
	}
	return string(out)
}

func node(name string) Object {
	offer := Object{"cpu": fmt.Sprintf("%dm", milliPerNode), "memory": "64Gi", "pods": "110"}
	return Object{"apiVersion": "v1", "kind": "Node",
		"metadata": Object{"name": name, "uid": "node-" + name, "labels": Object{"kubernetes.io/hostname": name}},
		"spec":     Object{},
		"status": Object{"capacity": offer, "allocatable": offer,
			"conditions": []any{Object{"type": "Ready", "status": "True"}}}}
}

func priorityClass(name string, value int) Object {
	return Object{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value,
		"metadata": Object{"name": name, "uid": "class-" + name}}
}

// managed is about as long as what an API server notes of a pod's fields.
func managed(manager string) Object {
	fields := Object{}
	for _, field := range []string{"f:generateName", "f:labels", "f:ownerReferences", "f:containers", "f:dnsPolicy", "f:restartPolicy",
		"f:schedulerName", "f:securityContext", "f:terminationGracePeriodSeconds", "f:enableServiceLinks"} {
		fields[field] = Object{".": Object{}, "f:app": Object{}}
	}
	return Object{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": started, "fieldsType": "FieldsV1", "fieldsV1": fields}
}

func (l *Life) makePod(o *owner) {
	labels := Object{"app": o.name}
	if o.kind == "Job" {
		labels["batch.kubernetes.io/job-name"] = o.name
		labels["batch.kubernetes.io/controller-uid"] = o.uid
	} else {
		labels["pod-template-hash"] = o.name[len(o.name)-9:]
	}
	class := "low"
	if o.priority > 0 {
		class = "high"
	}
	pod := Object{"apiVersion": "v1", "kind": "Pod",
		"metadata": Object{"name": o.name + "-" + l.suffix(5), "generateName": o.name + "-", "namespace": "default", "uid": l.uid(),
			"creationTimestamp": time.Now().UTC().Format(time.RFC3339), "labels": labels,
			"ownerReferences": []any{Object{"apiVersion": "apps/v1", "kind": o.kind, "name": o.name, "uid": o.uid, "controller": true}},
			"managedFields":   []any{managed("kube-controller-manager")}},
		"spec": Object{"schedulerName": "reprieve", "priorityClassName": class, "priority": o.priority, "preemptionPolicy": "PreemptLowerPriority",
			"terminationGracePeriodSeconds": 1, "restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
			"containers": []any{Object{"name": "main", "image": "none", "resources": Object{"requests": Object{"cpu": fmt.Sprintf("%dm", o.milli)}}}}},
		"status": Object{"phase": "Pending", "qosClass": "Burstable"}}
	uid := meta(pod)["uid"].(string)
	o.pods[uid] = pod
	l.of[uid] = o
	l.milli += o.milli
	l.made++
	l.store.put("pods", pod)
}

// step makes owners until `pods` have been made in all, and ends the oldest while there is too much of them.
// REQUIRES: the store's mutex is held.
func (l *Life) step(pods int, room float64) {
	for l.made < pods {
		l.next++
		turn := l.next % 10
		o := &owner{milli: milliPerPod, uid: l.uid(), pods: map[string]Object{}}
		count := 2 + l.dice.Intn(7)
		switch {
		case turn == 0:
			o.kind, o.name, o.milli, o.priority, count = "Job", fmt.Sprintf("urgent-%d", l.next), 2*milliPerPod, 1000, 4+l.dice.Intn(9)
		case turn < 4:
			o.kind, o.name = "Job", fmt.Sprintf("batch-%d", l.next)
		default:
			o.kind, o.name, count = "ReplicaSet", fmt.Sprintf("serve-%d-%s", l.next, l.suffix(9)), 4+l.dice.Intn(13)
			app := Object{"app": o.name}
			o.set = Object{"apiVersion": "apps/v1", "kind": "ReplicaSet",
				"metadata": Object{"name": o.name, "namespace": "default", "uid": o.uid, "labels": app},
				"spec":     Object{"replicas": count, "selector": Object{"matchLabels": app}, "template": Object{"metadata": Object{"labels": app}}},
				"status":   Object{"replicas": count}}
			l.store.put("replicasets", o.set)
		}
		for range count {
			l.makePod(o)
		}
		l.owners = append(l.owners, o)
	}
	for len(l.owners) > 0 && float64(l.milli) > room {
		o := l.owners[0]
		l.owners = l.owners[1:]
		o.over = true
		for _, pod := range o.pods {
			l.delete(pod)
		}
		if o.set != nil {
			l.store.remove("replicasets", o.set)
		}
	}
}

// delete lets a pod go, as a kubelet would: after its grace, or at once where it never ran.
func (l *Life) delete(pod Object) {
	uid := meta(pod)["uid"].(string)
	o := l.of[uid]
	if o == nil {
		return
	}
	delete(l.of, uid)
	delete(o.pods, uid)
	l.milli -= o.milli
	if sub(pod, "spec")["nodeName"] == nil {
		l.store.remove("pods", pod)
		return
	}
	meta(pod)["deletionTimestamp"] = time.Now().UTC().Add(time.Second).Format(time.RFC3339)
	meta(pod)["deletionGracePeriodSeconds"] = 1
	l.store.put("pods", pod)
	time.AfterFunc(grace, func() {
		l.store.mu.Lock()
		defer l.store.mu.Unlock()
		l.store.remove("pods", pod)
	})
}

func (l *Life) evict(pod Object) {
	o := l.of[meta(pod)["uid"].(string)]
	if o == nil {
		return
	}
	l.evicts++
	l.delete(pod)
	if !o.over {
		l.makePod(o)
	}
}

func (l *Life) bind(pod Object, node string) bool {
	if sub(pod, "spec")["nodeName"] != nil || meta(pod)["deletionTimestamp"] != nil {
		return false
	}
	sub(pod, "spec")["nodeName"] = node
	merge(pod, Object{"status": Object{"conditions": []any{Object{"type": "PodScheduled", "status": "True"}}}})
	l.bound++
	l.store.put("pods", pod)
	merge(pod, Object{"status": Object{"phase": "Running", "startTime": started, "conditions": []any{Object{"type": "Ready", "status": "True"}}}})
	l.store.put("pods", pod)
	return true
}
