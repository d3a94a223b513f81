package guest

// planFile is where init finds what it has to do, as JSON.
const planFile = "/plan.json"

// plan is what init does.
type plan struct {
	Modules []string `json:"modules"` // files, in the order in which they are loaded
	Command []string `json:"command"` // the program's path and its arguments
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	Results string   `json:"results"` // the folder whose files go back; "" for none
}

// initVariable is set in the environment of the guest's process 1, by way of the kernel's command line.
const initVariable = "LMMC_GUEST_INIT"
