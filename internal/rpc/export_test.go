package rpc

import (
	"reflect"
	"slices"
)

// Flags returns the flags that calls set, by the command.
func Flags() map[string][]string {
	flags := map[string][]string{}
	for command, of := range map[string]reflect.Type{"discover": reflect.TypeFor[Discover](), "join": reflect.TypeFor[Join](), "host": reflect.TypeFor[Host]()} {
		for _, f := range fieldsOf(of) {
			if name := f.Tag.Get("flag"); name != "" {
				flags[command] = append(flags[command], name)
			}
		}
	}
	for _, row := range settable() {
		flags["host"] = append(flags["host"], row.Flag)
	}
	flags["host"], flags["join"] = append(flags["host"], "here", "new", "launch"), append(flags["join"], "launch")
	flags["discover"], flags["games"] = append(flags["discover"], "json", "top"), []string{"json"}
	for _, all := range flags {
		slices.Sort(all)
	}
	return flags
}
