package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/rpc/jsonrpc"
)

// settable returns the settings that muster host has a flag for, by their keys.
func settable() map[string]wire.Setting {
	rows := map[string]wire.Setting{}
	for _, row := range wire.Table() {
		if row.Flag != "" {
			rows[row.Key] = row
		}
	}
	return rows
}

// settingArgs returns the arguments of muster host for settings.
func settingArgs(settings map[string]json.RawMessage) (args []argument, _ *jsonrpc.Error) {
	rows := settable()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		field := "settings." + name
		row, is := rows[name]
		if !is {
			return nil, wrong(field, "there is no setting %q", name)
		}
		text, err := textOf(row, settings[name])
		if err != nil {
			return nil, wrong(field, "%s: %v", field, err)
		}
		args = append(args, setting(row.Flag, text, field))
	}
	return args, nil
}

// textOf returns the value of a setting's flag.
func textOf(row wire.Setting, value json.RawMessage) (string, error) {
	var given any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&given); err != nil {
		return "", err
	}
	to := row.Of(&wire.Settings{})
	unit := ""
	switch to.(type) {
	case *discovery.Millis, *wire.Limits:
		unit = "ms"
	}
	list, is := given.([]any)
	if !is {
		list = []any{given}
	} else if _, takes := to.(*wire.Limits); !takes {
		return "", fmt.Errorf("a list is too much")
	}
	if _, takes := to.(*wire.Law); takes && bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
		return string(bytes.TrimSpace(value)), nil
	}
	var texts []string
	for _, one := range list {
		switch v := one.(type) {
		case json.Number:
			texts = append(texts, v.String()+unit)
		case bool:
			texts = append(texts, strconv.FormatBool(v))
		case string:
			texts = append(texts, v)
		default:
			return "", fmt.Errorf("%s is wanted", kindOf(reflect.TypeOf(to).Elem()))
		}
	}
	return strings.Join(texts, ","), nil
}
