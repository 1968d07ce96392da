package cli

import "strings"

// placeName is a name as a line of a list of places has it, where a comma ends it.
func placeName(name string) string { return strings.ReplaceAll(name, ",", "") }
