package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"
)

const bookmarkEvery = 20 * time.Second

// Server answers what a scheduler asks an API server: lists, watches, bindings, patches and deletions of pods.
type Server struct {
	store *Store
	life  *Life
}

func (s *Server) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(in.URL.Path, "/"), "/")
	// /api/v1/... or /apis/GROUP/VERSION/...
	skip := 2
	if parts[0] == "apis" {
		skip = 3
	}
	if len(parts) < skip {
		refuse(out, 404, "not here")
		return
	}
	parts = parts[skip:]
	if len(parts) == 0 {
		refuse(out, 404, "no optional kinds here")
		return
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		s.object(out, in, parts[1], parts[2:])
		return
	}
	if in.URL.Query().Get("watch") == "true" {
		s.watch(out, in, parts[0])
		return
	}
	s.list(out, in, parts[0])
}

func refuse(out http.ResponseWriter, code int, message string) {
	out.WriteHeader(code)
	fmt.Fprintf(out, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
}

func answer(out http.ResponseWriter, code int, object Object) {
	text, _ := json.Marshal(object)
	out.WriteHeader(code)
	out.Write(text)
}

// list gives pages as an API server does, from the objects as they are now: nothing changes while a page is missing,
// or the list would not be of one moment; who asks begins his watch at the version of the first page.
func (s *Server) list(out http.ResponseWriter, in *http.Request, kind string) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	keys := make([]string, 0, len(s.store.objects[kind]))
	after := in.URL.Query().Get("continue")
	version, last, _ := strings.Cut(after, " ")
	if after == "" {
		version = strconv.FormatUint(s.store.version, 10)
	}
	for key := range s.store.objects[kind] {
		if key > last {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	limit, _ := strconv.Atoi(in.URL.Query().Get("limit"))
	head := Object{"resourceVersion": version}
	if limit > 0 && len(keys) > limit {
		keys = keys[:limit]
		head["continue"] = version + " " + keys[limit-1]
	}
	items := make([]Object, 0, len(keys))
	for _, key := range keys {
		items = append(items, s.store.objects[kind][key])
	}
	text, _ := json.Marshal(Object{"kind": "List", "apiVersion": "v1", "metadata": head, "items": items})
	out.Write(text)
}

func (s *Server) watch(out http.ResponseWriter, in *http.Request, kind string) {
	query := in.URL.Query()
	from, _ := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	end := time.Now().Add(time.Duration(max(seconds, 1)) * time.Second)
	stop := in.Context().Done()
	flusher := out.(http.Flusher)
	out.WriteHeader(200)
	flusher.Flush()
	store := s.store
	store.mu.Lock()
	if len(store.events) > 0 && store.dropped > 0 && from < store.events[0].version-1 {
		store.mu.Unlock()
		fmt.Fprint(out, `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}`+"\n")
		return
	}
	at := store.dropped + sort.Search(len(store.events), func(i int) bool { return store.events[i].version > from })
	told := time.Now()
	for {
		var batch []byte
		at = max(at, store.dropped)
		for ; at < store.dropped+len(store.events); at++ {
			if one := store.events[at-store.dropped]; one.kind == kind {
				batch = append(batch, one.line...)
			}
		}
		version := store.version
		if len(batch) == 0 {
			if time.Now().After(end) {
				store.mu.Unlock()
				return
			}
			select {
			case <-stop:
				store.mu.Unlock()
				return
			default:
			}
			if time.Since(told) < bookmarkEvery {
				store.changed.Wait()
				continue
			}
			batch = fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d"}}}`+"\n", version)
		}
		told = time.Now()
		store.mu.Unlock()
		if _, err := out.Write(batch); err != nil {
			return
		}
		flusher.Flush()
		store.mu.Lock()
	}
}

// object answers about one namespace: parts are kind, name and subresource.
func (s *Server) object(out http.ResponseWriter, in *http.Request, ns string, parts []string) {
	text, _ := io.ReadAll(in.Body)
	var body Object
	json.Unmarshal(text, &body)
	store := s.store
	store.mu.Lock()
	defer store.mu.Unlock()
	if parts[0] != "pods" {
		s.other(out, in.Method, ns, parts, body)
		return
	}
	pod := store.objects["pods"][ns+"/"+parts[1]]
	if pod == nil {
		refuse(out, 404, "no such pod")
		return
	}
	what := in.Method
	if len(parts) == 3 {
		what += " " + parts[2]
	}
	if wanted, given := uidIn(body); given && wanted != meta(pod)["uid"] {
		refuse(out, 409, "another UID")
		return
	}
	switch what {
	case "GET":
	case "POST binding":
		if s.life.bind(pod, sub(body, "target")["name"].(string)) {
			out.WriteHeader(201)
			out.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success","code":201}`))
		} else {
			refuse(out, 409, "bound or leaving")
		}
		return
	case "POST eviction", "DELETE":
		s.life.evict(pod)
	case "PATCH", "PATCH status":
		merge(pod, body)
		store.put("pods", pod)
	default:
		refuse(out, 405, what)
		return
	}
	answer(out, 200, pod)
}

// other keeps the lease; Events are only taken.
func (s *Server) other(out http.ResponseWriter, method, ns string, parts []string, body Object) {
	if parts[0] != "leases" {
		answer(out, 201, Object{})
		return
	}
	if method == "GET" {
		lease := s.store.objects["leases"][ns+"/"+parts[1]]
		if lease == nil {
			refuse(out, 404, "no such lease")
			return
		}
		answer(out, 200, lease)
		return
	}
	sub(body, "metadata")["namespace"] = ns
	s.store.put("leases", body)
	answer(out, 200, body)
}

func uidIn(body Object) (any, bool) {
	for _, path := range [][]string{{"metadata", "uid"}, {"preconditions", "uid"}, {"deleteOptions", "preconditions", "uid"}} {
		var at any = body
		for _, key := range path {
			inner, ok := at.(Object)
			if !ok {
				at = nil
				break
			}
			at = inner[key]
		}
		if at != nil {
			return at, true
		}
	}
	return nil, false
}

// merge is a merge patch, with conditions by their type.
func merge(into, patch Object) {
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case Object:
			merge(sub(into, key), value)
		case []any:
			if key == "conditions" {
				value = mergeConditions(into[key], value)
			}
			into[key] = value
		default:
			into[key] = value
		}
	}
}

func mergeConditions(before any, patch []any) []any {
	old, _ := before.([]any)
	var out []any
	replaced := map[any]bool{}
	for _, one := range patch {
		replaced[one.(Object)["type"]] = true
	}
	for _, one := range old {
		if !replaced[one.(Object)["type"]] {
			out = append(out, one)
		}
	}
	for _, one := range patch {
		if one.(Object)["$patch"] != "delete" {
			out = append(out, one)
		}
	}
	return out
}
