package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

const (
	endClean   = "clean"   // the body ends as if the server's watch timeout had come
	endAbort   = "abort"   // the body breaks off: reset stream in HTTP/2, closed connection in HTTP/1.1
	endExpired = "expired" // an ERROR event with code 410, then a clean end
	endStall   = "stall"   // nothing more arrives and nothing ends, until the stream is cut
)

const expiredEvent = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
	`"message":"too old resource version (injected fault)","reason":"Expired","code":410}}` + "\n"

var errBrokenOff = errors.New("stream broken off on purpose")

func knownEnd(end string) bool {
	return end == endClean || end == endAbort || end == endExpired || end == endStall
}

// stream is the body of one watch on its way to the client. It can be ended from outside at any time, and
// by plan after a number of events. A JSON watch is handed on event by event (one line each), so that it ends
// only between two of them; a watch in another encoding is handed on as it comes.
type stream struct {
	uri     string
	inner   io.ReadCloser
	owner   *streamSet
	gone    <-chan struct{} // closed when the client has left
	planned *Stream         // constant after the answer's header went out
	lines   bool            // whole lines only; likewise

	// Used by the reading goroutine alone.
	events    int    // handed on
	ready     []byte // may go to the client
	held      []byte // start of an event whose end has not come
	announced bool   // the 410 event has been put in
	failure   error  // what the API server's side ended with

	mutex sync.Mutex
	end   string        // empty while the stream goes on
	ended chan struct{} // closed when end is set to anything but stall
}

func (body *stream) Read(buffer []byte) (int, error) {
	for {
		if body.planned != nil && body.events >= body.planned.AfterEvents && len(body.ready) == 0 {
			body.finish(body.planned.End)
		}
		end := body.ending()
		if end == endExpired && !body.announced && len(body.ready) == 0 {
			body.announced = true
			body.ready = []byte(expiredEvent)
		}
		switch {
		case end == endAbort:
			return 0, errBrokenOff
		case end == endStall:
			select {
			case <-body.ended:
			case <-body.gone:
				return 0, errBrokenOff
			}
		case len(body.ready) > 0:
			return body.hand(buffer), nil
		case end != "":
			return 0, io.EOF
		case body.failure != nil:
			return 0, body.failure
		default:
			body.fetch(buffer)
		}
	}
}

// hand gives out what is ready, at most up to the end of the last event the plan lets pass.
func (body *stream) hand(buffer []byte) int {
	count := min(len(buffer), len(body.ready))
	for index := 0; index < count; index++ {
		if body.ready[index] != '\n' {
			continue
		}
		body.events++
		if body.planned != nil && body.events >= body.planned.AfterEvents && !body.announced {
			count = copy(buffer, body.ready[:index+1])
			body.ready = nil
			return count
		}
	}
	copy(buffer, body.ready[:count])
	body.ready = body.ready[count:]
	return count
}

// fetch waits for more from the API server, using the client's buffer as scratch space.
func (body *stream) fetch(buffer []byte) {
	count, err := body.inner.Read(buffer)
	body.held = append(body.held, buffer[:count]...)
	body.failure = err
	complete := len(body.held)
	// Half an event is passed on only if that is the server's doing.
	if body.lines && (err == nil || body.ending() != "") {
		complete = bytes.LastIndexByte(body.held, '\n') + 1
	}
	body.ready = append([]byte(nil), body.held[:complete]...)
	body.held = append(body.held[:0], body.held[complete:]...)
}

func (body *stream) ending() string {
	body.mutex.Lock()
	defer body.mutex.Unlock()
	return body.end
}

// finish ends the stream. A stalled stream can still be ended in another way; any other end is final.
func (body *stream) finish(end string) {
	body.mutex.Lock()
	defer body.mutex.Unlock()
	if body.end == end || (body.end != "" && body.end != endStall) {
		return
	}
	body.end = end
	if end != endStall {
		close(body.ended)
		_ = body.inner.Close() // wakes a Read that waits for the API server
	}
}

func (body *stream) Close() error {
	body.owner.forget(body)
	body.finish(endClean)
	return body.inner.Close()
}

// streamSet knows the watches that are open.
type streamSet struct {
	mutex   sync.Mutex
	watches map[*stream]struct{}
}

func (set *streamSet) open(response *http.Response) *stream {
	body := &stream{
		uri:   response.Request.URL.RequestURI(),
		inner: response.Body,
		owner: set,
		gone:  response.Request.Context().Done(),
		lines: strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"),
		ended: make(chan struct{}),
	}
	set.mutex.Lock()
	defer set.mutex.Unlock()
	if set.watches == nil {
		set.watches = map[*stream]struct{}{}
	}
	set.watches[body] = struct{}{}
	return body
}

func (set *streamSet) forget(body *stream) {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	delete(set.watches, body)
}

// finish ends every open watch whose path matches and says how many there were.
func (set *streamSet) finish(path *regexp.Regexp, end string) int {
	set.mutex.Lock()
	chosen := []*stream{}
	for body := range set.watches {
		if path.MatchString(body.uri) {
			chosen = append(chosen, body)
		}
	}
	set.mutex.Unlock()
	for _, body := range chosen {
		body.finish(end)
	}
	return len(chosen)
}

func (set *streamSet) list() []string {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	uris := []string{}
	for body := range set.watches {
		uris = append(uris, body.uri)
	}
	return uris
}

func isWatch(request *http.Request) bool {
	value := request.URL.Query().Get("watch")
	return value == "true" || value == "1"
}

func withRule(ctx context.Context, rule Rule) context.Context {
	return context.WithValue(ctx, ruleKey{}, rule)
}

func ruleOf(ctx context.Context) (Rule, bool) {
	rule, found := ctx.Value(ruleKey{}).(Rule)
	return rule, found
}
