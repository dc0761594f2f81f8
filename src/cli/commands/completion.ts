import { join } from 'node:path'
import { Argument, Command } from 'commander'
import { say } from '../output.ts'
import { root } from '../repository.ts'

type Shell = 'bash' | 'zsh' | 'fish'

export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'whose script').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
The script asks this Florin for what can come next, so it stays right when Florin is updated. It completes the command
"florin"; where that is not on the path, an alias does: alias florin=${quoted()}

Examples:
  $ florin completion bash >> ~/.bashrc
  $ florin completion zsh >> ~/.zshrc
  $ florin completion fish > ~/.config/fish/completions/florin.fish`,
    )
    .action((shell: Shell) => say(scripts[shell](quoted())))
}

/** This very program, for a shell, wherever the shell is then. */
const quoted = (): string => `'${join(root, 'bin/florin').replaceAll("'", String.raw`'\''`)}'`

const scripts: Readonly<Record<Shell, (program: string) => string>> = {
  bash: (program) => `_florin() {
  local IFS=$'\\n'
  COMPREPLY=($(${program} complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _florin florin`,
  zsh: (program) => `_florin() {
  local line
  local -a candidates
  for line in "\${(@f)$(${program} complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#candidates )); then _describe florin candidates; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _florin florin`,
  fish: (program) => `function __florin_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (${program} complete $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c florin -f -a '(__florin_complete)'`,
}
