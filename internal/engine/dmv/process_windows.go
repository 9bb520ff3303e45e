package dmv

import "syscall"

func thisProcess() process {
	var p process
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return p
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) == nil {
		p.kernel, p.user = milliseconds(kernel), milliseconds(user)
	}
	return p
}

// milliseconds turns a duration in 100 ns units into ms.
func milliseconds(t syscall.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) / 10000
}
