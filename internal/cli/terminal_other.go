//go:build !windows

package cli

import "os"

// understandsEscapes: terminals do.
func understandsEscapes(*os.File) bool { return true }
