package host

import (
	"net/http"
	"reflect"
	"testing"

	"muster/host/public"
	"muster/host/wire"
)

// Description returns the document of a host's endpoints, as YAML and as JSON.
func Description() (inYAML, inJSON string) { return documentYAML, documentJSON }

// Routes returns the methods and patterns of all routes of a host that has everything.
func Routes(t testing.TB) (all []string) {
	config := Config{Public: &public.Limits{}, Page: http.NotFoundHandler(), Get: http.NotFoundHandler()}
	h, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, r := range h.routes() {
		all = append(all, r.method+" "+r.pattern)
	}
	return all
}

// Bodies returns the types that the bodies of actions are read into, by the names of the actions.
func Bodies(t testing.TB) map[string]reflect.Type {
	p := &pageAPI{door: &door{}}
	types := map[string]reflect.Type{"servers": reflect.TypeFor[wire.Supply]()} // the host turns it into addresses
	for name, parse := range actions {
		if types[name] != nil {
			continue
		}
		action, err := parse(p, actionRequest{body: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		types[name] = reflect.TypeOf(action)
	}
	return types
}
