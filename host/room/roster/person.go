package roster

// Caller is somebody who shows a credential: a person in the room, or a stranger, who has no
// name. One with the organiser's secret may be nobody in the room yet.
type Caller struct {
	Name                             string
	IsPlayer, IsOrganiser, IsRegular bool
}

// IsSomebody reports whether the caller is in the room.
func (c Caller) IsSomebody() bool { return c.Name != "" }

// Title returns what the log calls a caller who decides for the room.
func (c Caller) Title() string {
	if c.IsSomebody() {
		return c.Name
	}
	return "the organiser"
}
