function __lmmc_complete
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	string match -q -- '-*' $word; and set -a words $word
	command $words --generate-bash-completion 2>/dev/null
end
complete -c lmmc -a '(__lmmc_complete)'
