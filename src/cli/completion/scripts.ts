// What a shell runs at Tab. Each script only asks `__complete`, so that it never has to be made anew for a newer program.

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

const bash = `# bash completion of slipway; for every new shell:
#   slipway completion bash > ~/.local/share/bash-completion/completions/slipway
_slipway() {
  local line value files= typed=\${COMP_WORDS[COMP_CWORD]}
  # bash takes --output=json apart at its =; what is offered stands in place of the part behind it.
  local before=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    if [ "$value" = :files ]; then files=1; continue; fi
    if [ "$typed" = = ] || [ "$before" = = ]; then value=\${value#--*=}; fi
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$files" ]; then
    if [ "$typed" = = ]; then typed=; fi
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$typed")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _slipway slipway
`

const zsh = `#compdef slipway
# zsh completion of slipway; for every new shell, in a folder of $fpath:
#   slipway completion zsh > ~/.zsh/completions/_slipway
_slipway() {
  local line value files
  local -a described
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" ]] && continue
    if [[ "$line" == :files ]]; then files=1; continue; fi
    value=\${line%%$'\\t'*}
    if [[ "$line" == *$'\\t'* ]]; then described+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    else described+=("\${value//:/\\\\:}"); fi
  done
  (( \${#described} )) && _describe -t slipway 'slipway' described
  [[ -n "$files" ]] && _files
}
if [[ "\${funcstack[1]}" == _slipway ]]; then _slipway "$@"; else compdef _slipway slipway; fi
`

const fish = `# fish completion of slipway; for every new shell:
#   slipway completion fish > ~/.config/fish/completions/slipway.fish
function __slipway_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] "$typed" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$typed"
        else
            echo $line
        end
    end
end
complete -c slipway -f -a '(__slipway_complete)'
`

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
