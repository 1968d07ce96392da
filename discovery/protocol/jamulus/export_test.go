package jamulus

// Frame puts a message in its frame.
var Frame = frame

// The kinds of two messages.
const (
	Musicians  = musicians
	SeatedList = seatedList
)
