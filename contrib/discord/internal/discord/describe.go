package discord

// locales are Discord's tags of the languages, where they differ.
var locales = map[string][]string{"en": {"en-US", "en-GB"}, "es": {"es-ES", "es-419"}, "zh-Hans": {"zh-CN"}}

// described is a command, a subcommand or an option as Discord describes them.
type described struct {
	Type         int               `json:"type"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
	Required     bool              `json:"required,omitempty"`
	Autocomplete bool              `json:"autocomplete,omitempty"`
	Min          int               `json:"min_value,omitempty"`
	Max          int               `json:"max_value,omitempty"`
	Longest      int               `json:"max_length,omitempty"`
	Options      []described       `json:"options,omitempty"`
}

// These are Discord's numbers for commands, subcommands, texts and whole numbers.
const (
	slashCommand = 1
	subcommand   = 1
	textOption   = 3
	numberOption = 4
)

// longestDescription is how many letters of a description Discord takes.
const longestDescription = 100

// Commands returns what an application tells Discord of its commands. players is the largest group of a room.
func Commands(players int) any {
	describe := func(of described, key string) described {
		of.Descriptions = map[string]string{}
		for _, tag := range Tags() {
			text := Cut(LanguageOf(tag).Say(key), longestDescription)
			if tag == English {
				of.Description = text
			}
			at := []string{tag}
			if known := locales[tag]; known != nil {
				at = known
			}
			for _, locale := range at {
				of.Descriptions[locale] = text
			}
		}
		return of
	}
	open := describe(described{Type: subcommand, Name: Open}, "command-open")
	open.Options = []described{
		describe(described{
			Type: textOption, Name: OptionGame, Required: true, Autocomplete: true, Longest: longestChoice,
		}, "option-game"),
		describe(described{Type: numberOption, Name: OptionPlayers, Min: 1, Max: players}, "option-players"),
		describe(described{Type: textOption, Name: OptionVoice}, "option-voice"),
	}
	whole := describe(described{Type: slashCommand, Name: CommandName}, "command")
	whole.Options = []described{
		open,
		describe(described{Type: subcommand, Name: Status}, "command-status"),
		describe(described{Type: subcommand, Name: End}, "command-end"),
	}
	return []described{whole}
}
