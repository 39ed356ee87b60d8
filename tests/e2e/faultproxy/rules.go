package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sort"
	"sync"
)

// Rule says which requests suffer a fault, how often, and which. Exactly the faults that are set apply, in the
// order of the fields: a delay or a hold may come before any other.
type Rule struct {
	ID     string `json:"id"`
	Method string `json:"method,omitempty"` // regular expression over the whole method; empty = any
	Path   string `json:"path,omitempty"`   // regular expression found in "path?query"; empty = any
	Skip   int    `json:"skip,omitempty"`   // this many matching requests pass first
	Count  int    `json:"count,omitempty"`  // this many then suffer; 0 = all

	DelayMS    int     `json:"delayMs,omitempty"`
	Hold       bool    `json:"hold,omitempty"`       // until the rule is removed or the client leaves
	Status     int     `json:"status,omitempty"`     // answered here, never reaches the API server
	Reason     string  `json:"reason,omitempty"`     // of the Status object sent along
	RetryAfter int     `json:"retryAfter,omitempty"` // seconds, as a header
	Drop       bool    `json:"drop,omitempty"`       // connection closed before the API server sees the request
	LoseReply  bool    `json:"loseReply,omitempty"`  // request carried out, connection closed instead of the answer
	Stream     *Stream `json:"stream,omitempty"`     // what happens to a watch

	Seen int `json:"seen"` // matching requests
	Hits int `json:"hits"` // of those, the ones that suffered

	method, path *regexp.Regexp
	removed      chan struct{}
}

// Stream ends or stalls the body of an answer that streams, once AfterEvents lines have passed.
type Stream struct {
	AfterEvents int    `json:"afterEvents,omitempty"`
	End         string `json:"end"` // "clean", "abort" (broken off), "expired" (410 in the stream), "stall" (silence)
}

func (rule *Rule) compile() error {
	var err error
	if rule.method, err = regexp.Compile("^(?:" + rule.Method + ")$"); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if rule.path, err = regexp.Compile(rule.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if rule.Status != 0 && (rule.Status < 400 || rule.Status > 599) {
		return fmt.Errorf("status %d is no fault", rule.Status)
	}
	if rule.Stream != nil && !knownEnd(rule.Stream.End) {
		return fmt.Errorf("unknown end of stream %q", rule.Stream.End)
	}
	if rule.DelayMS == 0 && !rule.Hold && rule.Status == 0 && !rule.Drop && !rule.LoseReply && rule.Stream == nil {
		return errors.New("the rule names no fault")
	}
	return nil
}

func (rule *Rule) matches(request *http.Request) bool {
	if rule.Stream != nil && !isWatch(request) {
		return false
	}
	return (rule.Method == "" || rule.method.MatchString(request.Method)) &&
		rule.path.MatchString(request.URL.RequestURI())
}

// ruleSet holds the rules in the order they were added. The first rule that applies to a request decides.
type ruleSet struct {
	mutex sync.Mutex
	next  int
	rules []*Rule
}

func (set *ruleSet) add(rule Rule) (string, error) {
	if err := rule.compile(); err != nil {
		return "", err
	}
	set.mutex.Lock()
	defer set.mutex.Unlock()
	set.next++
	rule.ID, rule.Seen, rule.Hits = fmt.Sprintf("rule-%d", set.next), 0, 0
	rule.removed = make(chan struct{})
	set.rules = append(set.rules, &rule)
	return rule.ID, nil
}

// remove takes away one rule, or all for an empty id, and says whether there was one.
func (set *ruleSet) remove(id string) bool {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	kept := set.rules[:0:0]
	for _, rule := range set.rules {
		if id != "" && rule.ID != id {
			kept = append(kept, rule)
		} else {
			close(rule.removed)
		}
	}
	removed := len(kept) < len(set.rules)
	set.rules = kept
	return removed
}

func (set *ruleSet) list() []Rule {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	listed := make([]Rule, 0, len(set.rules))
	for _, rule := range set.rules {
		listed = append(listed, *rule)
	}
	return listed
}

// choose counts the request and returns the rule it suffers, if any.
func (set *ruleSet) choose(request *http.Request) (Rule, bool) {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	for _, rule := range set.rules {
		if !rule.matches(request) {
			continue
		}
		rule.Seen++
		if rule.Seen <= rule.Skip || (rule.Count > 0 && rule.Hits >= rule.Count) {
			continue
		}
		rule.Hits++
		return *rule, true
	}
	return Rule{}, false
}

// traffic counts what passed, by method, protocol and answer.
type traffic struct {
	mutex  sync.Mutex
	counts map[trafficKey]int
}

type trafficKey struct {
	Method   string `json:"method"`
	Protocol string `json:"protocol"`
	Status   int    `json:"status"` // 0 = connection dropped
}

type trafficRow struct {
	trafficKey
	Requests int `json:"requests"`
}

func (all *traffic) count(request *http.Request, status int) {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	if all.counts == nil {
		all.counts = map[trafficKey]int{}
	}
	all.counts[trafficKey{request.Method, request.Proto, status}]++
}

func (all *traffic) list() []trafficRow {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	rows := []trafficRow{}
	for key, requests := range all.counts {
		rows = append(rows, trafficRow{key, requests})
	}
	sort.Slice(rows, func(a, b int) bool {
		return fmt.Sprint(rows[a].trafficKey) < fmt.Sprint(rows[b].trafficKey)
	})
	return rows
}
