package ab

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"spicepacer/cmd/spicebench/client"
)

// baseline is the arm to which the others are compared.
const baseline = "passthrough"

// settings is a part of the proxy's configuration, as YAML has it.
type settings = map[string]any

// arm is one way to run proxy and client: what differs from the bench's own
// settings.
type arm struct {
	name      string
	overrides settings
	// compression is what the client asks for (client.Compressions); empty: nothing.
	compression string
}

// builtinArms returns the arms that need no definition. Passthrough2 is passthrough
// again: how far the two differ is what this run cannot tell from chance. An arm
// with the name of a compression is passthrough with a client that asks for it.
func builtinArms() map[string]arm {
	paced := func(name, mode string) arm {
		return arm{name: name, overrides: settings{"pacing": settings{"mode": mode}}}
	}
	arms := map[string]arm{
		baseline:       paced(baseline, "passthrough"),
		"passthrough2": paced("passthrough2", "passthrough"),
		"withhold":     paced("withhold", "withhold"),
		"adaptive":     paced("adaptive", "adaptive"),
	}
	for _, name := range client.Compressions() {
		a := paced(name, "passthrough")
		a.compression = name
		arms[name] = a
	}
	return arms
}

// armName keeps names usable in paths and tables.
var armName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// parseArms looks up the named arms. Definitions, NAME=YAML, come first in the
// look-up; those not named follow the named ones.
func parseArms(names, definitions []string) ([]arm, error) {
	known := builtinArms()
	names = slices.Clone(names)
	for _, d := range definitions {
		a, err := parseArm(d)
		if err != nil {
			return nil, err
		}
		known[a.name] = a
		if !slices.Contains(names, a.name) {
			names = append(names, a.name)
		}
	}
	arms := make([]arm, len(names))
	for i, name := range names {
		a, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("arm %q is none of %s, nor defined", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("arm %q is named twice", name)
		}
		arms[i] = a
	}
	return arms, nil
}

func parseArm(definition string) (arm, error) {
	name, text, found := strings.Cut(definition, "=")
	if !found || !armName.MatchString(name) {
		return arm{}, fmt.Errorf("arm definition %q: want NAME=YAML, the name of letters, digits, dot, dash and underscore", definition)
	}
	a := arm{name: name, overrides: settings{}}
	if err := yaml.Unmarshal([]byte(text), &a.overrides); err != nil {
		return arm{}, fmt.Errorf("arm definition %q: %w", definition, err)
	}
	return a, nil
}

// merged returns base with the overrides laid over it, section by section.
func merged(base, overrides settings) settings {
	result := maps.Clone(base)
	for key, value := range overrides {
		section, isSection := value.(settings)
		if under, ok := result[key].(settings); ok && isSection {
			value = merged(under, section)
		}
		result[key] = value
	}
	return result
}
