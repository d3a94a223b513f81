package plugged

import "strings"

// Kind is what boards of one make look like on USB.
type Kind struct {
	Board   string `json:"board"`
	Vendor  uint16 `json:"vendor"`
	Product uint16 `json:"product"`
	// Name is part of what the device calls itself. Boards whose makers left the bridge chip's own name there have "".
	Name string `json:"name,omitempty"`
}

// Boards returns the names of the boards that a device may be. A device that calls itself by the name of a board is no other one.
func Boards(d Device, kinds []Kind) []string {
	var named, unnamed []string
	for _, k := range kinds {
		switch {
		case k.Vendor != d.Vendor || k.Product != d.Product:
		case k.Name == "":
			unnamed = append(unnamed, k.Board)
		case strings.Contains(strings.ToLower(d.Name), strings.ToLower(k.Name)):
			named = append(named, k.Board)
		}
	}
	if named != nil {
		return named
	}
	return unnamed
}
