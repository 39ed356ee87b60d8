package main

import (
	"fmt"
	"strings"
)

// The gang shape: nodes of 8 GPUs in racks and rows, full of gangs of whole nodes that lie side by side, and one gang
// that needs a row.
const (
	rackNodes = 16
	rowNodes  = 64
	rackLabel = "example.com/rack"
	rowLabel  = "example.com/row"
	gangLabel = "gang"
	sizeLabel = "gang-size"
	wholeNode = `{"cpu":"80","memory":"512Gi","nvidia.com/gpu":"8"}`
	bigGang   = "big"
)

var gangSizes = []int{1, 2, 4, 8}

// dialect is how a gang is written.
type dialect struct {
	groups string // path of the PodGroups
	group  func(name string, members int, inOneRow bool) []byte
	member func(gang string) (annotations, spec string) // further fields of a pod, each ending in a comma
	racks  bool                                         // racks and rows are objects, not only labels
}

var dialects = map[string]dialect{
	"core": {
		groups: "/apis/scheduling.k8s.io/v1beta1/namespaces/" + namespace + "/podgroups",
		group:  coreGroup,
		member: func(gang string) (string, string) {
			return "", fmt.Sprintf(`"schedulingGroup":{"podGroupName":%q},`, gang)
		},
	},
	"volcano": {
		groups: "/apis/scheduling.volcano.sh/v1beta1/namespaces/" + namespace + "/podgroups",
		group:  volcanoGroup,
		member: func(gang string) (string, string) {
			return fmt.Sprintf(`"annotations":{"scheduling.k8s.io/group-name":%q},`, gang), ""
		},
		racks: true,
	},
}

func coreGroup(name string, members int, inOneRow bool) []byte {
	more := `"disruptionMode":{"all":{}}`
	if inOneRow {
		more += fmt.Sprintf(`,"priorityClassName":%q,"schedulingConstraints":{"topology":[{"key":%q}]}`,
			priorityClass, rowLabel)
	}
	return fmt.Appendf(nil, `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":%q},`+
		`"spec":{"schedulingPolicy":{"gang":{"minCount":%d}},%s}}`, name, members, more)
}

func volcanoGroup(name string, members int, inOneRow bool) []byte {
	more := ""
	if inOneRow {
		more = fmt.Sprintf(`,"priorityClassName":%q,"networkTopology":{"mode":"hard","highestTierAllowed":2}`,
			priorityClass)
	}
	return fmt.Appendf(nil, `{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",`+
		`"metadata":{"name":%q},"spec":{"minMember":%d%s},"status":{"phase":"Running"}}`, name, members, more)
}

// seat is a node's place in the row of gangs.
type seat struct {
	gang   string
	member int
	size   int
}

// seats lays gangs of all sizes in turn over the nodes; the last one may be cut short.
func seats(nodes int) []seat {
	laid := make([]seat, 0, nodes)
	for gang := 0; len(laid) < nodes; gang++ {
		size := min(gangSizes[gang%len(gangSizes)], nodes-len(laid))
		for member := range size {
			laid = append(laid, seat{fmt.Sprintf("gang-%d", gang), member, size})
		}
	}
	return laid
}

// loadGangs fills an empty cluster: the priority class, the nodes, the gangs that run there, and the group of the gang
// that will come.
func loadGangs(client *Client, how dialect, nodes, comers, inFlight int, scheduler string) error {
	if err := client.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", plainJSON, classBody()); err != nil {
		return err
	}
	if err := forEach(nodes, inFlight, func(index int) error {
		return client.call("POST", "/api/v1/nodes", plainJSON, gpuNodeBody(index))
	}); err != nil {
		return err
	}
	if how.racks {
		if err := loadHyperNodes(client, nodes, inFlight); err != nil {
			return err
		}
	}
	laid := seats(nodes)
	firsts := []seat{}
	for _, one := range laid {
		if one.member == 0 {
			firsts = append(firsts, one)
		}
	}
	if err := forEach(len(firsts), inFlight, func(index int) error {
		return client.call("POST", how.groups, plainJSON, how.group(firsts[index].gang, firsts[index].size, false))
	}); err != nil {
		return err
	}
	if err := client.call("POST", how.groups, plainJSON, how.group(bigGang, comers, true)); err != nil {
		return err
	}
	return forEach(nodes, inFlight, func(index int) error {
		return client.call("POST", podsPath(), plainJSON, memberBody(how, laid[index], index, scheduler))
	})
}

func gpuNodeBody(index int) []byte {
	capacity := `{"cpu":"96","memory":"1Ti","pods":"110","nvidia.com/gpu":"8"}`
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":`+
		`{"kubernetes.io/hostname":%q,%q:"rack-%d",%q:"row-%d"}},`+
		`"status":{"capacity":%s,"allocatable":%s,"conditions":%s}}`,
		nodeName(index), nodeName(index), rackLabel, index/rackNodes, rowLabel, index/rowNodes,
		capacity, capacity, nodeReady)
}

func loadHyperNodes(client *Client, nodes, inFlight int) error {
	const path = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
	racks := (nodes + rackNodes - 1) / rackNodes
	rows := (nodes + rowNodes - 1) / rowNodes
	if err := forEach(racks, inFlight, func(rack int) error {
		selector := fmt.Sprintf(`{"labelMatch":{"matchLabels":{%q:"rack-%d"}}}`, rackLabel, rack)
		body := hyperNodeBody(fmt.Sprintf("rack-%d", rack), 1, []string{memberOf("Node", selector)})
		return client.call("POST", path, plainJSON, body)
	}); err != nil {
		return err
	}
	return forEach(rows, inFlight, func(row int) error {
		const perRow = rowNodes / rackNodes
		members := []string{}
		for rack := row * perRow; rack < min((row+1)*perRow, racks); rack++ {
			selector := fmt.Sprintf(`{"exactMatch":{"name":"rack-%d"}}`, rack)
			members = append(members, memberOf("HyperNode", selector))
		}
		return client.call("POST", path, plainJSON, hyperNodeBody(fmt.Sprintf("row-%d", row), 2, members))
	})
}

func hyperNodeBody(name string, tier int, members []string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":%q},`+
		`"spec":{"tier":%d,"members":[%s]}}`, name, tier, strings.Join(members, ","))
}

func memberOf(kind, selector string) string {
	return fmt.Sprintf(`{"type":%q,"selector":%s}`, kind, selector)
}

func memberBody(how dialect, at seat, node int, scheduler string) []byte {
	annotations, spec := how.member(at.gang)
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s-%d",%s`+
		`"labels":{%q:"low",%q:%q,%q:"%d"}},"spec":{"nodeName":%q,%s%s}}`,
		at.gang, at.member, annotations, role, gangLabel, at.gang, sizeLabel, at.size, nodeName(node), spec,
		gpuPod(scheduler))
}

// bigGangBody is a member of the gang that needs a row.
func bigGangBody(how dialect, index int, scheduler string) []byte {
	annotations, spec := how.member(bigGang)
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,%s"labels":{%q:"high"}},`+
		`"spec":{"priorityClassName":%q,%s%s}}`,
		preemptorName(index), annotations, role, priorityClass, spec, gpuPod(scheduler))
}

// gpuPod is the common end of the specs: a pod as big as a node that stops at once.
func gpuPod(scheduler string) string {
	return fmt.Sprintf(`"schedulerName":%q,"terminationGracePeriodSeconds":0,"containers":[{"name":"main",`+
		`"image":"none","resources":{"requests":%s,"limits":%s}}]`, scheduler, wholeNode, wholeNode)
}
