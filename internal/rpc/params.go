package rpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"muster/internal/rpc/jsonrpc"
)

// A parameter is a field of a struct with tags: json is its name and doc its meaning. flag names the
// flag of the command that it sets. need is "true" if a call must have it. enum lists its values.

// fieldsOf returns the fields of a struct, those of embedded structs included.
func fieldsOf(of reflect.Type) (all []reflect.StructField) {
	for _, f := range reflect.VisibleFields(of) {
		if !f.Anonymous && f.IsExported() && nameOf(f) != "-" {
			all = append(all, f)
		}
	}
	return all
}

// nameOf returns a field's name in JSON.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// wrong returns an error about a parameter.
func wrong(field, format string, a ...any) *jsonrpc.Error {
	why := jsonrpc.Errorf(jsonrpc.InvalidParams, format, a...)
	why.Data = Trouble{Field: field}
	return why
}

// decode reads parameters into a struct. It refuses what the struct does not have, because that is
// mostly a slip that would change what a call does.
func decode(params json.RawMessage, into any) *jsonrpc.Error {
	to := reflect.ValueOf(into).Elem()
	var given map[string]json.RawMessage
	if len(params) > 0 && json.Unmarshal(params, &given) != nil {
		return wrong("", "parameters go by name: an object is wanted")
	}
	fields := fieldsOf(to.Type())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := slices.IndexFunc(fields, func(f reflect.StructField) bool { return nameOf(f) == name })
		if at < 0 {
			return wrong(name, "there is no parameter %q here", name)
		}
		if err := json.Unmarshal(given[name], to.FieldByIndex(fields[at].Index).Addr().Interface()); err != nil {
			return wrong(name, "%s: %s is wanted", name, kindOf(fields[at].Type))
		}
	}
	for _, f := range fields {
		value, name := to.FieldByIndex(f.Index), nameOf(f)
		if f.Tag.Get("need") != "" && value.IsZero() {
			return wrong(name, "%s is missing", name)
		}
		if enum := f.Tag.Get("enum"); enum != "" && !value.IsZero() && !slices.Contains(strings.Split(enum, ","), value.String()) {
			return wrong(name, "%s is one of %s", name, strings.ReplaceAll(enum, ",", ", "))
		}
	}
	return nil
}

// kindOf names a type for people.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint16:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// argument is an argument of a command, and the parameter that it comes from.
type argument struct{ text, field string }

// setting returns the argument that sets a flag. Its value is part of it, so that no text is taken for
// a flag.
func setting(name, value, field string) argument { return argument{"--" + name + "=" + value, field} }

// argsOf returns the arguments of a command for the parameters that name a flag.
func argsOf(params any) (args []argument) {
	from := reflect.Indirect(reflect.ValueOf(params))
	for _, f := range fieldsOf(from.Type()) {
		name, value := f.Tag.Get("flag"), from.FieldByIndex(f.Index)
		if name == "" || value.IsZero() {
			continue
		}
		if value = reflect.Indirect(value); value.Kind() == reflect.Slice {
			for i := range value.Len() {
				args = append(args, setting(name, fmt.Sprint(value.Index(i)), nameOf(f)))
			}
			continue
		}
		text := fmt.Sprint(value)
		if f.Type.Kind() == reflect.Float64 {
			text = strconv.FormatFloat(value.Float(), 'f', -1, 64)
		}
		if strings.HasSuffix(nameOf(f), "_ms") {
			text += "ms"
		}
		args = append(args, setting(name, text, nameOf(f)))
	}
	return args
}

// fieldIn returns the parameter that a command's complaint is about, if it names one.
func fieldIn(complaint string, args []argument) (field string) {
	longest := 0
	for _, a := range args {
		name, _, isFlag := strings.Cut(a.text, "=")
		if isFlag && len(name) > longest && strings.Contains(complaint, name) {
			field, longest = a.field, len(name)
		}
	}
	return field
}

func textsOf(args []argument) (texts []string) {
	for _, a := range args {
		texts = append(texts, a.text)
	}
	return texts
}
