package host_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/host"
	"muster/host/public"
)

// sampler makes values that a schema of the document permits.
type sampler struct {
	*rand.Rand
	document map[string]any
}

// texts are what programs may send where the document says no more than text.
var texts = []string{
	"", "a", "ann", "openarena", "cs2", "192.0.2.7:27960", "[2001:db8::1]:27960", "10.0.0.1:27960", "gathering", "fri 20:00", "whenever",
	"2026-11-27 20:00", "mumble://voice.example/x", "https://discord.com/api/webhooks/1/x", "Frankfurt, 192.0.2.1", "none", "ban ban pick",
	"dm6, dm17, ztn", "\u202e\x00", "ﬀ\u0301é", "'; DROP", "{}", "999999999999999999999", "-1", "coordinated", "conventional",
	"0:0", "255.255.255.255:65535", "%s%n", strings.Repeat("x", 300), strings.Repeat("é,", 700),
}

// numbers are what they may send for a number.
var numbers = []any{0, 1, -1, 5, 60, 150, 185.5, 1e-9, 1e9, 60000, 65536, int64(1) << 53, -(int64(1) << 53), 1e300}

// value returns a value for a schema. Bounds of numbers are for people; a body may break them, and the
// host must refuse it with words.
func (s sampler) value(of map[string]any, depth int) any {
	if to, refers := of["$ref"].(string); refers {
		name := to[strings.LastIndexByte(to, '/')+1:]
		return s.value(s.document["components"].(map[string]any)["schemas"].(map[string]any)[name].(map[string]any), depth)
	}
	if options, is := of["anyOf"].([]any); is {
		return s.value(options[s.IntN(len(options))].(map[string]any), depth)
	}
	if words, is := of["enum"].([]any); is {
		return words[s.IntN(len(words))]
	}
	kind := of["type"]
	if several, is := kind.([]any); is {
		kind = several[s.IntN(len(several))]
	}
	switch kind {
	case "string":
		if of["pattern"] != nil {
			return fmt.Sprintf("7656119%010d", s.IntN(1e10))
		}
		return texts[s.IntN(len(texts))]
	case "number":
		return numbers[s.IntN(len(numbers))]
	case "integer":
		for {
			n := numbers[s.IntN(len(numbers))]
			if _, isFloat := n.(float64); !isFloat {
				return n
			}
		}
	case "boolean":
		return s.IntN(2) == 0
	case "array":
		list := []any{}
		for range s.IntN(4) {
			list = append(list, s.value(of["items"].(map[string]any), depth+1))
		}
		return list
	case "object":
		return s.object(of, depth)
	}
	return nil
}

func (s sampler) object(of map[string]any, depth int) any {
	all := map[string]any{}
	fields, _ := of["properties"].(map[string]any)
	required, _ := of["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(required, any(name)) || s.IntN(3) == 0 {
			all[name] = s.value(fields[name].(map[string]any), depth+1)
		}
	}
	if values, is := of["additionalProperties"].(map[string]any); is && depth < 5 {
		for range s.IntN(3) {
			all[texts[1+s.IntN(8)]] = s.value(values, depth+1)
		}
	}
	return all
}

// permitted is a host, and the requests that its document permits.
type permitted struct {
	sampler
	handler http.Handler
	secret  string
	code    string
	paths   []string
}

// hostOfPermitted opens a room on a public host, which accepts what is posted as that of a proxy.
func hostOfPermitted(t testing.TB) *permitted {
	t.Helper()
	const many = 1 << 20
	config := everybody(public.Limits{
		Rooms: many, PerAddress: many, Places: 32, Standing: public.Standing{Rooms: many, PerAddress: many},
	})
	config.Announce = func(host.Post) {}
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	p := &permitted{handler: h.Handler()}
	p.code, p.secret, err = h.Open(friday(0))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newContract(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.document = c.document
	for path, item := range p.document["paths"].(map[string]any) {
		operation, posts := item.(map[string]any)["post"].(map[string]any)
		if posts && operation["requestBody"] != nil && strings.HasPrefix(path, "/api/") {
			p.paths = append(p.paths, path)
		}
	}
	slices.Sort(p.paths)
	return p
}

// posts sends a permitted body to one of the paths, chosen like the body by a number.
func (p *permitted) posts(t testing.TB, seed uint64) {
	p.Rand = rand.New(rand.NewPCG(seed, 1))
	path := p.paths[p.IntN(len(p.paths))]
	if path == "/api/rooms/{code}/handon" { // the secret would be another's
		return
	}
	operation := p.document["paths"].(map[string]any)[path].(map[string]any)["post"].(map[string]any)
	content := operation["requestBody"].(map[string]any)["content"].(map[string]any)
	schema := content["application/json"].(map[string]any)["schema"].(map[string]any)
	body, err := json.Marshal(p.value(schema, 0))
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest("POST", strings.Replace(path, "{code}", p.code, 1), strings.NewReader(string(body)))
	request.Host, request.RemoteAddr = "127.0.0.1", "127.0.0.1:1000"
	request.Header.Set("Content-Type", "application/json")
	// Each request comes from a network of its own, because a host limits what one may ask.
	from := netip.AddrFrom4([4]byte{byte(20 + p.IntN(100)), byte(p.IntN(256)), byte(p.IntN(256)), 7})
	request.Header.Set("X-Forwarded-For", from.String())
	if path != "/api/rooms" {
		request.Header.Set("Authorization", "Bearer "+p.secret)
	}
	answer := httptest.NewRecorder()
	p.handler.ServeHTTP(answer, request)
	if answer.Code >= 500 {
		t.Errorf("%s %s: %d %s", path, body, answer.Code, answer.Body)
	}
}

// TestPermitted checks that nothing that the document permits makes a host fail.
func TestPermitted(t *testing.T) {
	p := hostOfPermitted(t)
	for seed := range uint64(1500) {
		p.posts(t, seed)
	}
}

// FuzzPermitted is [TestPermitted] with other bodies.
func FuzzPermitted(f *testing.F) {
	p := hostOfPermitted(f)
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { p.posts(t, seed) })
}
