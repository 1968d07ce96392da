package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"muster/host"
)

// contract holds real answers against the document of a host's endpoints. As a transport it passes
// requests on, and notes each answer that the document does not describe.
type contract struct {
	next http.RoundTripper
	// document is the document with all objects closed: a field that it does not have is an error.
	document map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
	problems []string
	// seen counts answers by operation and status.
	seen map[string]int
	// isStrict checks requests, too: a host must take nothing that the document does not permit.
	isStrict bool
}

// maxChecked is how many answers of one kind are checked. Load tests have thousands.
const maxChecked = 40

func newContract(next http.RoundTripper) (*contract, error) {
	document, err := readDocument()
	if err != nil {
		return nil, err
	}
	closeObjects(document)
	c := &contract{
		next: next, document: document, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{}, seen: map[string]int{},
	}
	c.compiler.AssertFormat()
	return c, c.compiler.AddResource(documentURL, document)
}

const documentURL = "https://muster.example/openapi.json"

// closeObjects lets no object have other fields than the described ones. Readers have to ignore
// further fields, but a host must not send what the document lacks.
func closeObjects(at any) {
	switch at := at.(type) {
	case map[string]any:
		for name, within := range at {
			if name != "example" && name != "examples" {
				closeObjects(within)
			}
		}
		_, isObject := at["properties"].(map[string]any)
		_, isBound := at["additionalProperties"]
		if _, refers := at["$ref"]; isObject && !isBound && !refers {
			at["additionalProperties"] = false
		}
	case []any:
		for _, within := range at {
			closeObjects(within)
		}
	}
}

// RoundTrip passes a request on and checks its answer.
func (c *contract) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked []byte
	if r.Body != nil {
		var err error
		if asked, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
		r = r.Clone(r.Context())
		if r.Body = http.NoBody; len(asked) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(asked))
		}
	}
	answer, err := c.next.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusSwitchingProtocols || !isHosts(answer) ||
		strings.HasPrefix(r.URL.Path, "/get/") && !c.isStrict { // most tests give no real programs
		return answer, err
	}
	operation, pointer := c.find(r.Method, r.URL.Path)
	if operation == nil {
		isKnown := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusMethodNotAllowed
		if strings.HasPrefix(r.URL.Path, "/api/") && !isKnown {
			c.complain(r, answer, nil, errors.New("the document has no such request"))
		}
		return answer, nil
	}
	key := fmt.Sprint(operation["operationId"], " ", answer.StatusCode)
	c.mu.Lock()
	c.seen[key]++
	isEnough := c.seen[key] > maxChecked
	c.mu.Unlock()
	if isEnough {
		return answer, nil
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if err := c.check(operation, pointer, r, asked, answer, body); err != nil {
		c.complain(r, answer, body, err)
	}
	return answer, nil
}

// isHosts reports whether a host has answered, and no other server of a test.
func isHosts(answer *http.Response) bool {
	return answer.Header.Get("Cross-Origin-Opener-Policy") != ""
}

func (c *contract) complain(r *http.Request, answer *http.Response, body []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf("%s %s answers %d: %v\n%.2000s", r.Method, r.URL.Path, answer.StatusCode, err, body))
}

// find returns the operation for a request, and where it stands in the document.
func (c *contract) find(method, path string) (operation map[string]any, pointer string) {
	best := -1
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for template, item := range c.document["paths"].(map[string]any) {
		of, is := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if literal := fits(template, path); is && literal > best {
			best, operation = literal, of
			pointer = "/paths/" + escaped(template) + "/" + strings.ToLower(method)
		}
	}
	return operation, pointer
}

// fits returns how many parts of a path stand literally in a template, -1 if it is another path.
func fits(template, path string) (literal int) {
	parts, given := strings.Split(template, "/"), strings.Split(path, "/")
	if len(parts) != len(given) {
		return -1
	}
	for i, part := range parts {
		switch {
		case part == given[i]:
			literal++
		case !strings.HasPrefix(part, "{") || given[i] == "":
			return -1
		}
	}
	return literal
}

func escaped(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
}

// everyAnswers are the headers of every answer. mayHave has those, too, that Go's server and the library for WebSockets
// add.
var everyAnswers = []string{
	"X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy", "Cross-Origin-Opener-Policy",
	"Cross-Origin-Resource-Policy",
}

var mayHave = append([]string{
	"Content-Type", "Content-Length", "Date", "Cache-Control", "Vary", "Accept-Ranges", "Content-Encoding", "Content-Language",
	"Sec-Websocket-Version",
}, everyAnswers...)

// check says how an answer differs from the document.
func (c *contract) check(
	operation map[string]any, pointer string, r *http.Request, asked []byte, answer *http.Response, body []byte,
) error {
	responses := operation["responses"].(map[string]any)
	response, is := responses[strconv.Itoa(answer.StatusCode)].(map[string]any)
	if !is {
		return errors.New("the document has no such status")
	}
	pointer += "/responses/" + strconv.Itoa(answer.StatusCode)
	if to, refers := response["$ref"].(string); refers {
		response = c.component("responses", to)
		pointer = strings.TrimPrefix(to, "#")
	}
	problems := c.checkHeaders(response, answer)
	content, _ := response["content"].(map[string]any)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	found := ""
	for declared := range content {
		if of, _, _ := strings.Cut(declared, ";"); of == kind {
			found = declared
		}
	}
	switch {
	case found == "" && (len(content) > 0 || len(body) > 0) && r.Method != http.MethodHead:
		problems = append(problems, fmt.Errorf("the document has no body of the kind %q", kind))
	case kind == "application/json" && r.Method != http.MethodHead && answer.Header.Get("Content-Encoding") == "":
		problems = append(problems, c.validate(pointer+"/content/"+escaped(found)+"/schema", body))
	}
	if c.isStrict {
		problems = append(problems, c.checkRequest(operation, r, asked, answer))
	}
	return errors.Join(problems...)
}

func (c *contract) component(kind, reference string) map[string]any {
	of := c.document["components"].(map[string]any)[kind].(map[string]any)
	return of[strings.TrimPrefix(reference, "#/components/"+kind+"/")].(map[string]any)
}

func (c *contract) checkHeaders(response map[string]any, answer *http.Response) (problems []error) {
	declared, _ := response["headers"].(map[string]any)
	known := slices.Clone(mayHave)
	for name := range declared {
		known = append(known, http.CanonicalHeaderKey(name))
	}
	for name := range answer.Header {
		if !slices.Contains(known, name) {
			problems = append(problems, fmt.Errorf("the document has no header %s", name))
		}
	}
	for _, name := range everyAnswers {
		if answer.Header.Get(name) == "" {
			problems = append(problems, fmt.Errorf("the header %s is missing", name))
		}
	}
	for name, of := range declared {
		header := c.component("headers", of.(map[string]any)["$ref"].(string))
		value := answer.Header.Get(name)
		if value == "" && header["required"] == true {
			problems = append(problems, fmt.Errorf("the header %s is missing", name))
		}
		if kind := header["schema"].(map[string]any)["type"]; kind == "integer" && value != "" {
			if n, err := strconv.Atoi(value); err != nil || n < 1 {
				problems = append(problems, fmt.Errorf("the header %s is %q", name, value))
			}
		}
	}
	return problems
}

// checkRequest says whether a host took a body that the document does not permit. Then the document
// lacks something.
func (c *contract) checkRequest(operation map[string]any, r *http.Request, asked []byte, answer *http.Response) error {
	declared, is := operation["requestBody"].(map[string]any)
	if answer.StatusCode >= 300 || len(asked) == 0 || string(asked) == "null" || r.Header.Get("Content-Encoding") != "" {
		return nil
	}
	if !is {
		if string(asked) != "{}" {
			return fmt.Errorf("the document has no body of the request, which is %s", asked)
		}
		return nil
	}
	if declared["content"].(map[string]any)["application/json"] == nil {
		return nil
	}
	_, pointer := c.find(r.Method, r.URL.Path)
	if err := c.validate(pointer+"/requestBody/content/application~1json/schema", asked); err != nil {
		return fmt.Errorf("the host takes %s: %w", asked, err)
	}
	return nil
}

// validate says how a body differs from a schema of the document.
func (c *contract) validate(pointer string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	schema := c.schemas[pointer]
	if schema == nil {
		if schema, err = c.compiler.Compile(documentURL + "#" + pointer); err != nil {
			return err
		}
		c.schemas[pointer] = schema
	}
	return schema.Validate(value)
}

// TestMetaSchema checks that the document is one of OpenAPI 3.1, and that its schemas are JSON Schemas.
func TestMetaSchema(t *testing.T) {
	_, written := host.Description()
	file, err := os.Open("testdata/openapi/schema-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	meta, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("meta.json", meta); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(written))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("meta.json").Validate(document); err != nil {
		t.Error(err)
	}
	dialect := compiler.MustCompile("https://json-schema.org/draft/2020-12/schema")
	schemas := 0
	var visit func(at any, name string)
	visit = func(at any, name string) {
		switch at := at.(type) {
		case map[string]any:
			if name == "schema" {
				if err := dialect.Validate(at); err != nil {
					t.Error(err)
				}
				schemas++
			}
			for name, within := range at {
				visit(within, name)
			}
		case []any:
			for _, within := range at {
				visit(within, "")
			}
		}
	}
	visit(document, "")
	for name, schema := range document.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		if err := dialect.Validate(schema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d bytes, %d schemas", len(written), schemas)
}

// unseen returns the documented answers that no host has given, as an operation and a status each. All
// actions count as one operation, because one handler refuses them.
func (c *contract) unseen() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, documented := map[string]bool{}, map[string]bool{}
	for path, item := range c.document["paths"].(map[string]any) {
		for method, of := range item.(map[string]any) {
			operation := of.(map[string]any)
			isAction := method == "post"
			for status := range operation["responses"].(map[string]any) {
				id := operation["operationId"].(string)
				key := id + " " + status
				if strings.HasPrefix(path, "/api/rooms/{code}/") && isAction {
					key = "an action " + status
				}
				documented[key] = true
				seen[key] = seen[key] || c.seen[id+" "+status] > 0
			}
		}
	}
	for key := range documented {
		if !seen[key] {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// everyAnswer holds all answers to this package's tests against the document.
var everyAnswer *contract

// checkEveryAnswer makes the tests' usual client check every answer.
func checkEveryAnswer() error {
	c, err := newContract(http.DefaultTransport)
	if err != nil {
		return err
	}
	everyAnswer, http.DefaultTransport = c, c
	return nil
}

// TestContract checks that the checker itself finds what the document does not describe.
func TestContract(t *testing.T) {
	c, err := newContract(http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (map[string]any, string) {
		operation, pointer := c.find("GET", path)
		if operation == nil {
			t.Fatalf("%s is in no document", path)
		}
		return operation, pointer
	}
	service := `{"format":"muster.service/1","version":"1","games":[],"max_players":1,"max_servers":1}`
	for _, tt := range []struct {
		name, path string
		status     int
		header     map[string]string
		body       string
		isRight    bool
	}{
		{"as it is", "/api/service", 200, nil, service, true},
		{"another field", "/api/service", 200, nil, strings.Replace(service, `"1"`, `"1","new":1`, 1), false},
		{"a field less", "/api/service", 200, nil, strings.Replace(service, `"max_players":1,`, ``, 1), false},
		{"null for a list", "/api/service", 200, nil, strings.Replace(service, `[]`, `null`, 1), false},
		{"another status", "/api/service", 418, nil, service, false},
		{"another kind", "/api/service", 200, map[string]string{"Content-Type": "text/plain"}, service, false},
		{"another header", "/api/service", 200, map[string]string{"X-New": "1"}, service, false},
		{"no Retry-After", "/api/rooms/BAKODI", 429, nil, `{"reason":"busy","message":"m"}`, false},
		{"a refusal", "/api/rooms/BAKODI", 429, map[string]string{"Retry-After": "5"}, `{"reason":"busy","message":"m"}`, true},
		{"another reason", "/api/rooms/BAKODI", 429, map[string]string{"Retry-After": "5"}, `{"reason":"full","message":"m"}`, false},
	} {
		operation, pointer := get(tt.path)
		answer := &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {"application/json"}}}
		for _, name := range everyAnswers {
			answer.Header.Set(name, "x")
		}
		for name, value := range tt.header {
			answer.Header.Set(name, value)
		}
		request, _ := http.NewRequest("GET", tt.path, nil)
		if err := c.check(operation, pointer, request, nil, answer, []byte(tt.body)); (err == nil) != tt.isRight {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
