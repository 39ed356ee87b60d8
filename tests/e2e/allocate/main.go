// Allocate answers what Kubernetes' allocator of devices gives to claims on a node: one JSON line for each JSON line.
//
//	{"node", "classes", "slices", "claims", "allocated"}     "allocated": claims that hold devices, by their status
//	{"results": [...]}, one allocation for each claim; {"results": null}: they cannot be met; {"error": "..."}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type question struct {
	Node      *corev1.Node
	Classes   classes
	Slices    []*resourceapi.ResourceSlice
	Claims    []*resourceapi.ResourceClaim
	Allocated []*resourceapi.ResourceClaim
}

type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }
func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, one := range c {
		if one.Name == name {
			return one, nil
		}
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclasses"), name)
}

// What is on by default, and fractions of capacities.
var features = structured.Features{
	AdminAccess:             true,
	ConsumableCapacity:      true,
	DeviceBindingAndStatus:  true,
	DeviceTaints:            true,
	FractionalCapacityRange: true,
	PartitionableDevices:    true,
	PrioritizedList:         true,
}

var expressions = cel.NewCache(1000, cel.Features{EnableConsumableCapacity: true})

func held(claims []*resourceapi.ResourceClaim) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		for _, result := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			switch {
			case result.AdminAccess != nil && *result.AdminAccess:
			case result.ShareID == nil:
				state.AllocatedDevices.Insert(id)
			default:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
			}
		}
	}
	return state
}

func answer(line []byte) (map[string]any, error) {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	ctx := context.Background()
	allocator, err := structured.NewAllocator(ctx, features, held(q.Allocated), q.Classes, q.Slices, expressions)
	if err != nil {
		return nil, err
	}
	results, err := allocator.Allocate(ctx, q.Node, q.Claims)
	return map[string]any{"results": results}, err
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		said, err := answer(line)
		if err != nil {
			said = map[string]any{"error": err.Error()}
		}
		if err := out.Encode(said); err != nil {
			os.Exit(1)
		}
	}
}
