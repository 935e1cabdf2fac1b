package ab

import (
	"fmt"
	"strings"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/link"
)

// load is what a proxy has to cope with: a link, and what the guest shows.
type load struct {
	profile  link.Profile
	activity string
}

// cell is one measurement.
type cell struct {
	load
	arm    arm
	repeat int // from 1
}

// String names the cell for people.
func (c cell) String() string {
	return fmt.Sprintf("%v %s %s, repeat %d", c.profile, c.activity, c.arm.name, c.repeat)
}

// directory names the cell's files.
func (c cell) directory() string {
	link := strings.TrimSuffix(strings.ReplaceAll(c.profile.String(), ":", "-"), "%")
	return fmt.Sprintf("%s_%s_%s_r%d", link, c.activity, c.arm.name, c.repeat)
}

// plan orders the cells: the arms of a load follow each other, so that slow
// changes of the machine meet all of them, and each repeat begins with another
// arm, so that none profits from its place.
func plan(loads []load, arms []arm, repeats int) []cell {
	var cells []cell
	for r := range repeats {
		for _, l := range loads {
			for i := range arms {
				cells = append(cells, cell{load: l, arm: arms[(i+r)%len(arms)], repeat: r + 1})
			}
		}
	}
	return cells
}

// product is every activity on every profile.
func product(profiles, activities []string) (loads []load, err error) {
	for _, p := range profiles {
		for _, a := range activities {
			l, err := parseLoad(p + "/" + a)
			if err != nil {
				return nil, err
			}
			loads = append(loads, l)
		}
	}
	return loads, nil
}

// parseLoads reads a list of PROFILE/ACTIVITY.
func parseLoads(list []string) (loads []load, err error) {
	for _, s := range list {
		l, err := parseLoad(s)
		if err != nil {
			return nil, err
		}
		loads = append(loads, l)
	}
	return loads, nil
}

func parseLoad(s string) (load, error) {
	profile, activity, found := strings.Cut(s, "/")
	if !found {
		return load{}, fmt.Errorf("cell %q: want PROFILE/ACTIVITY", s)
	}
	p, err := link.ParseProfile(profile)
	if err != nil {
		return load{}, err
	}
	if _, err := guest.Activity(activity); err != nil {
		return load{}, err
	}
	return load{profile: p, activity: activity}, nil
}
