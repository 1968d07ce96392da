//go:build !windows

package term

import "os"

// understandsEscapes reports whether the terminal takes escape sequences; here they all do.
func understandsEscapes(*os.File) bool { return true }
