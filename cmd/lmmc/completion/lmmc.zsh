_lmmc() {
	local -a given open closed
	given=("${(@Q)words[1,CURRENT-1]}")
	[[ ${words[CURRENT]} == -* ]] && given+=("${words[CURRENT]}")
	open=("${(@f)$("${given[@]}" --generate-bash-completion 2>/dev/null)}")
	closed=("${(@)open:#*:}")
	open=("${(@M)open:#*:}")
	compadd -a closed
	compadd -S '' -a open
	compset -P '(serial|unix):'
	_files
}
compdef _lmmc lmmc
