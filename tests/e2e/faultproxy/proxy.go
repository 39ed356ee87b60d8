package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"
)

// Proxy forwards requests and applies the rules to them.
type Proxy struct {
	rules       ruleSet
	traffic     traffic
	streams     streamSet
	connections connectionSet
	forward     *httputil.ReverseProxy
}

type ruleKey struct{}

func newProxy(target *url.URL, transport http.RoundTripper) *Proxy {
	proxy := &Proxy{}
	proxy.forward = &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
		},
		Transport:      transport,
		FlushInterval:  -1, // a watch event must not wait for the next one
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: proxy.adopt,
		ErrorHandler: func(writer http.ResponseWriter, request *http.Request, err error) {
			if errors.Is(err, errReplyLost) {
				proxy.drop(request)
			}
			proxy.traffic.count(request, http.StatusBadGateway)
			writer.WriteHeader(http.StatusBadGateway)
		},
	}
	return proxy
}

var errReplyLost = errors.New("reply lost on purpose")

func (proxy *Proxy) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	rule, suffers := proxy.rules.choose(request)
	if !suffers {
		proxy.forward.ServeHTTP(writer, request)
		return
	}
	if !proxy.linger(request, rule) {
		return
	}
	if rule.Status != 0 {
		proxy.traffic.count(request, rule.Status)
		refuse(writer, rule)
		return
	}
	if rule.Drop {
		proxy.drop(request)
	}
	proxy.forward.ServeHTTP(writer, request.WithContext(withRule(request.Context(), rule)))
}

// linger makes the request wait as the rule says. False means that the client left meanwhile: the request dies
// with it, as one that never left the client's machine.
func (proxy *Proxy) linger(request *http.Request, rule Rule) bool {
	if rule.DelayMS == 0 && !rule.Hold {
		return true
	}
	body, err := io.ReadAll(request.Body) // a closed connection is noticed only once the body has been read
	if err != nil {
		return false
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	if rule.DelayMS > 0 {
		select {
		case <-time.After(time.Duration(rule.DelayMS) * time.Millisecond):
		case <-request.Context().Done():
			return false
		}
	}
	if rule.Hold {
		select {
		case <-rule.removed:
		case <-request.Context().Done():
			return false
		}
	}
	return true
}

// adopt is called with the API server's answer before it goes to the client.
func (proxy *Proxy) adopt(response *http.Response) error {
	rule, suffers := ruleOf(response.Request.Context())
	if suffers && rule.LoseReply {
		_ = response.Body.Close()
		return errReplyLost
	}
	proxy.traffic.count(response.Request, response.StatusCode)
	if isWatch(response.Request) && response.StatusCode == http.StatusOK {
		stream := proxy.streams.open(response)
		if suffers && rule.Stream != nil {
			stream.planned = rule.Stream
		}
		response.Body = stream
	}
	return nil
}

// drop closes the client's whole connection, HTTP/2 siblings included, and does not return.
func (proxy *Proxy) drop(request *http.Request) {
	proxy.traffic.count(request, 0)
	if conn, ok := request.Context().Value(connectionKey{}).(net.Conn); ok {
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// refuse answers as the API server would: a Status object, and Retry-After where asked for.
func refuse(writer http.ResponseWriter, rule Rule) {
	reason := rule.Reason
	if reason == "" {
		reason = defaultReason(rule.Status)
	}
	writer.Header().Set("Content-Type", "application/json")
	if rule.RetryAfter > 0 {
		writer.Header().Set("Retry-After", strconv.Itoa(rule.RetryAfter))
	}
	writer.WriteHeader(rule.Status)
	_ = json.NewEncoder(writer).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": "injected fault", "reason": reason, "code": rule.Status,
	})
}

func defaultReason(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Unauthorized"
	case http.StatusForbidden:
		return "Forbidden"
	case http.StatusNotFound:
		return "NotFound"
	case http.StatusConflict:
		return "Conflict"
	case http.StatusGone:
		return "Expired"
	case http.StatusTooManyRequests:
		return "TooManyRequests"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailable"
	case http.StatusGatewayTimeout:
		return "Timeout"
	default:
		return "InternalError"
	}
}
