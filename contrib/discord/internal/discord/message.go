package discord

import "encoding/json"

// Response is the answer to an interaction.
type Response struct {
	Type int `json:"type"`
	Data any `json:"data,omitempty"`
}

// These are the types of answers, as Discord numbers them.
const (
	pong           = 1
	newMessage     = 4
	laterMessage   = 5
	laterUpdate    = 6
	updatedMessage = 7
	choices        = 8
)

// Pong answers a ping.
func Pong() Response { return Response{Type: pong} }

// Post answers with a message.
func Post(m Message) Response { return Response{newMessage, m} }

// Update replaces the message whose button was pressed.
func Update(m Message) Response { return Response{updatedMessage, m} }

// Later says that the answer to an interaction follows. Choices cannot: then there are none.
func (in Interaction) Later() Response {
	switch in.Kind {
	case Complete:
		return Choose(nil)
	case Press:
		return Response{Type: laterUpdate}
	}
	return Response{Type: laterMessage}
}

// Message returns the message of an answer, and whether it replaces that of the pressed button; ok is false if there is
// none.
func (r Response) Message() (m Message, replaces, ok bool) {
	m, ok = r.Data.(Message)
	return m, r.Type == updatedMessage, ok
}

// maxChoices and longestChoice are what Discord takes of choices.
const maxChoices, longestChoice = 25, 100

// Choose offers games to a person who types.
func Choose(games []Game) Response {
	type choice struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	offered := []choice{}
	for _, g := range games {
		if len(offered) < maxChoices && len(g.ID) <= longestChoice {
			offered = append(offered, choice{Cut(g.Name, longestChoice), g.ID})
		}
	}
	return Response{choices, map[string]any{"choices": offered}}
}

// Game is a game that rooms may be for, as the host describes it.
type Game struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Listed says that somebody lists its servers.
	Listed bool `json:"listed"`
	// OtherNumber says that the text that found it has another number in it, so that it may mean another game.
	OtherNumber bool `json:"other_number"`
}

// Message is a message in Discord's form. All its parts are always written, because an update keeps what it does not
// name.
type Message struct {
	Content    string  `json:"content"`
	Embeds     []embed `json:"embeds"`
	Components []row   `json:"components"`
	// Mentions keeps Discord from notifying people whom a text names.
	Mentions mentions `json:"allowed_mentions"`
	Flags    int      `json:"flags,omitempty"`
}

type mentions struct {
	Parse []string `json:"parse"`
}

type embed struct {
	Title       string  `json:"title"`
	Description string  `json:"description,omitempty"`
	URL         string  `json:"url,omitempty"`
	Color       int     `json:"color,omitempty"`
	Fields      []field `json:"fields,omitempty"`
}

type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// row has up to five buttons.
type row struct {
	Type       int      `json:"type"`
	Components []button `json:"components"`
}

type button struct {
	Type     int    `json:"type"`
	Style    int    `json:"style"`
	Label    string `json:"label"`
	CustomID string `json:"custom_id,omitempty"`
	URL      string `json:"url,omitempty"`
}

// These are Discord's numbers: components, and styles of buttons.
const (
	rowType, buttonType = 1, 2

	primary, secondary, danger, leading = 1, 2, 4, 5

	onlyForYou = 1 << 6
)

func newMessageOf(content string, embeds []embed, buttons ...button) Message {
	m := Message{Content: Cut(content, maxContent), Embeds: embeds, Components: []row{}, Mentions: mentions{[]string{}}}
	if m.Embeds == nil {
		m.Embeds = []embed{}
	}
	if len(buttons) > 0 {
		m.Components = append(m.Components, row{rowType, buttons})
	}
	return m
}

// maxContent is how many letters of a text Discord takes.
const maxContent = 2000

// Whisper returns a message that only the person who did something sees. It has no button.
func Whisper(text string) Message { return newMessageOf(text, nil).Private() }

// Private returns the message for the eyes of one person.
func (m Message) Private() Message {
	m.Flags |= onlyForYou
	return m
}

// Steering returns the message that lets the organiser steer a room. link is the organiser's own.
func Steering(l *Language, ref Ref, link string) Message {
	return newMessageOf(l.Say("organise-how"), nil,
		button{Type: buttonType, Style: leading, Label: l.Say("organise-open"), URL: link},
		button{Type: buttonType, Style: danger, Label: l.Say("end"), CustomID: ref.Button(Close)}).Private()
}

// Equal reports whether two messages look the same.
func (m Message) Equal(other Message) bool {
	a, _ := json.Marshal(m) // never fails: there are only texts and numbers
	b, _ := json.Marshal(other)
	return string(a) == string(b)
}
