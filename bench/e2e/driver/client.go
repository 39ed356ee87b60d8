package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	plainJSON  = "application/json"
	mergePatch = "application/merge-patch+json"
)

// Client makes calls over HTTP/2 with verified TLS. Safe for many goroutines.
type Client struct {
	server, token string
	http          *http.Client
}

func newClient(server, authority, tokenFile string) (*Client, error) {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", authority)
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 64,
		DisableCompression:  true,
	}
	return &Client{server, strings.TrimSpace(string(token)), &http.Client{Transport: transport}}, nil
}

func (client *Client) send(method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, client.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+client.token)
	request.Header.Set("Accept", plainJSON)
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	return client.http.Do(request)
}

// call makes one request and waits out the server's 429s. Any other failure is an error.
func (client *Client) call(method, path, contentType string, body []byte) error {
	for {
		response, err := client.send(method, path, contentType, body)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		switch {
		case err != nil:
			return err
		case response.StatusCode == http.StatusTooManyRequests:
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			time.Sleep(max(time.Duration(seconds)*time.Second, 50*time.Millisecond))
		case response.StatusCode >= 400:
			return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
		default:
			return nil
		}
	}
}

func (client *Client) get(path string, into any) error {
	response, err := client.send("GET", path, "", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		return fmt.Errorf("GET %s: %d", path, response.StatusCode)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// podEvent holds what is needed of a watch event.
type podEvent struct {
	Type   string
	Object struct {
		Metadata struct {
			Name, UID, ResourceVersion, DeletionTimestamp string
			Labels                                        map[string]string
		}
		Spec struct{ NodeName string }
	}
}

// podWatch follows the pods from one moment on. The API server ends watches that fall behind in a burst; the
// watch then goes on where it stopped, so that nothing is missed.
type podWatch struct {
	client  *Client
	query   string
	version string // of the last event
	body    io.ReadCloser
}

// watchPods returns with the watch open: nothing after this moment is missed.
func (client *Client) watchPods(query string) (*podWatch, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := client.get(podsPath()+"?limit=1&"+query, &list); err != nil {
		return nil, err
	}
	watch := &podWatch{client: client, query: query, version: list.Metadata.ResourceVersion}
	return watch, watch.open()
}

func (watch *podWatch) open() error {
	path := podsPath() + "?watch=true&resourceVersion=" + watch.version + "&" + watch.query
	response, err := watch.client.send("GET", path, "", nil)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("watch: %d", response.StatusCode)
	}
	watch.body = response.Body
	return nil
}

// follow calls note for every event, for as long as the watch can be kept up.
func (watch *podWatch) follow(note func(podEvent)) error {
	for {
		if err := watch.read(note); err != nil {
			return err
		}
		if err := watch.open(); err != nil {
			return err
		}
	}
}

// read hands on the events of one stream. The end of the stream is not an error.
func (watch *podWatch) read(note func(podEvent)) error {
	defer watch.body.Close()
	decoder := json.NewDecoder(bufio.NewReaderSize(watch.body, 1<<16))
	for {
		var event podEvent
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		if event.Type == "ERROR" {
			return fmt.Errorf("watch reports an error after version %s", watch.version)
		}
		watch.version = event.Object.Metadata.ResourceVersion
		note(event)
	}
}

// forEach runs work(0..count-1) with so many at a time and returns the first error.
func forEach(count, atATime int, work func(int) error) error {
	var (
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	indexes := make(chan int)
	for range min(atATime, count) {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := range indexes {
				if err := work(index); err != nil {
					once.Do(func() { first = err })
				}
			}
		}()
	}
	for index := range count {
		indexes <- index
	}
	close(indexes)
	group.Wait()
	return first
}
