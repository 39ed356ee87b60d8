package main

import (
	"encoding/json"
	"strconv"
	"sync"
)

// Object is what a client sees of an object: plain JSON values.
type Object = map[string]any

// keptEvents is how far back a watch may begin, in events of all kinds.
const keptEvents = 200_000

type event struct {
	version uint64
	kind    string
	line    []byte
}

// Store holds objects in memory and tells watches of every change. It checks nothing.
type Store struct {
	mu      sync.Mutex
	changed *sync.Cond
	version uint64
	objects map[string]map[string]Object // kind -> "ns/name" -> object
	events  []event
	dropped int // events before events[0]
}

func newStore() *Store {
	s := &Store{version: 1, objects: map[string]map[string]Object{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func meta(object Object) Object { return object["metadata"].(Object) }

func sub(object Object, key string) Object {
	found, ok := object[key].(Object)
	if !ok {
		found = Object{}
		object[key] = found
	}
	return found
}

func keyOf(object Object) string {
	ns, _ := meta(object)["namespace"].(string)
	return ns + "/" + meta(object)["name"].(string)
}

// put adds an object, or tells of a change that the caller made to it. REQUIRES: mu is held.
func (s *Store) put(kind string, object Object) {
	all := s.objects[kind]
	if all == nil {
		all = map[string]Object{}
		s.objects[kind] = all
	}
	what := "MODIFIED"
	if _, there := all[keyOf(object)]; !there {
		what = "ADDED"
	}
	all[keyOf(object)] = object
	s.tell(kind, what, object)
}

func (s *Store) remove(kind string, object Object) {
	delete(s.objects[kind], keyOf(object))
	s.tell(kind, "DELETED", object)
}

func (s *Store) tell(kind, what string, object Object) {
	s.version++
	meta(object)["resourceVersion"] = strconv.FormatUint(s.version, 10)
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	line := make([]byte, 0, len(text)+40)
	line = append(line, `{"type":"`...)
	line = append(line, what...)
	line = append(line, `","object":`...)
	line = append(line, text...)
	line = append(line, '}', '\n')
	s.events = append(s.events, event{s.version, kind, line})
	if len(s.events) > 2*keptEvents {
		s.dropped += len(s.events) - keptEvents
		s.events = append([]event(nil), s.events[len(s.events)-keptEvents:]...)
	}
	s.changed.Broadcast()
}
