//go:build !windows

package term

import "os"

// understandsEscapes: terminals do.
func understandsEscapes(*os.File) bool { return true }
