# bash ends words at colons, which lmmc's targets contain: what stands before the last one on the line is no part of the answer.
_lmmc() {
	local line=${COMP_LINE:0:COMP_POINT} words
	local word=${line##*[[:space:]]}
	read -ra words <<<"${line%"$word"}"
	[[ $word == -* ]] && words+=("$word")
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word"))
	[[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null
	if [[ $COMP_WORDBREAKS == *:* && $word == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
	fi
}
complete -o default -F _lmmc lmmc
