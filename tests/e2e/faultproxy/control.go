package main

import (
	"encoding/json"
	"net/http"
	"regexp"
)

// controlHandler serves the control port:
//
//	GET    /healthz       200 when up
//	GET    /rules         all rules with how often they matched and struck
//	POST   /rules         a Rule; answers {"id": ...}
//	DELETE /rules         all rules
//	DELETE /rules/{id}    one rule
//	GET    /streams       URIs of the watches that are open
//	POST   /cut           {"path": regexp, "end": "abort"}: ends open watches; answers {"cut": n}
//	POST   /disconnect    closes every client connection; answers {"cut": n}
//	POST   /freeze        lets no more answers out on the client connections that are open; answers {"frozen": n}
//	GET    /traffic       requests by method, protocol and answer
func controlHandler(proxy *Proxy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /rules", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, proxy.rules.list())
	})
	mux.HandleFunc("POST /rules", func(writer http.ResponseWriter, request *http.Request) {
		var rule Rule
		if !decode(writer, request, &rule) {
			return
		}
		id, err := proxy.rules.add(rule)
		if err != nil {
			answer(writer, http.StatusBadRequest, err.Error())
			return
		}
		answer(writer, http.StatusOK, map[string]string{"id": id})
	})
	mux.HandleFunc("DELETE /rules", func(writer http.ResponseWriter, _ *http.Request) {
		proxy.rules.remove("")
		answer(writer, http.StatusOK, "ok")
	})
	mux.HandleFunc("DELETE /rules/{id}", func(writer http.ResponseWriter, request *http.Request) {
		if !proxy.rules.remove(request.PathValue("id")) {
			answer(writer, http.StatusNotFound, "no such rule")
			return
		}
		answer(writer, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /streams", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, proxy.streams.list())
	})
	mux.HandleFunc("POST /cut", func(writer http.ResponseWriter, request *http.Request) {
		cut := struct{ Path, End string }{End: endAbort}
		if !decode(writer, request, &cut) {
			return
		}
		path, err := regexp.Compile(cut.Path)
		if err != nil || !knownEnd(cut.End) {
			answer(writer, http.StatusBadRequest, "path is no regular expression, or end is unknown")
			return
		}
		answer(writer, http.StatusOK, map[string]int{"cut": proxy.streams.finish(path, cut.End)})
	})
	mux.HandleFunc("POST /disconnect", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, map[string]int{"cut": proxy.connections.closeAll()})
	})
	mux.HandleFunc("POST /freeze", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, map[string]int{"frozen": proxy.connections.freezeAll()})
	})
	mux.HandleFunc("GET /traffic", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, http.StatusOK, proxy.traffic.list())
	})
	return mux
}

func decode(writer http.ResponseWriter, request *http.Request, into any) bool {
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		answer(writer, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

func answer(writer http.ResponseWriter, status int, body any) {
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(status)
	_ = json.NewEncoder(writer).Encode(body)
}
