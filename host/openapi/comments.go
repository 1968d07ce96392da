package openapi

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
)

// comments are what Go's source says about the types of the document. TestComments writes them.
type comments struct {
	// About has descriptions by component, such as Member, and by field, such as Member.done.
	About map[string]string `json:"about"`
	// Values are the constants of a type, such as wire.Stage, in their order.
	Values map[string][]value `json:"values"`
}

type value struct {
	Value   string `json:"value"`
	Comment string `json:"comment,omitempty"`
}

//go:embed comments.json
var embedded []byte

func readComments() (c comments, err error) {
	err = json.Unmarshal(embedded, &c)
	return c, err
}

// about returns the description of a component or a field: a hand-written one, or the comment, or one
// for all fields of this name.
func (r *reflector) about(component, field string) string {
	key := component
	if field != "" {
		key += "." + field
	}
	if said, is := words[key]; is {
		r.used[key] = true
		return said
	}
	if said := r.comments.About[key]; said != "" {
		return said
	}
	several := []string{component + ".*", "*." + field}
	if strings.HasPrefix(component, "POST ") {
		several = append([]string{"POST *." + field}, several...)
	}
	for _, key := range several {
		if said, is := words[key]; is {
			r.used[key] = true
			return said
		}
	}
	r.complain("nothing describes %s", key)
	return ""
}

// goName returns the name of a type as comments.json has it, such as wire.Member.
func goName(t reflect.Type) string {
	return t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:] + "." + t.Name()
}
