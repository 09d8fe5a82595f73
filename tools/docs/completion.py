#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Completion for bash and zsh, made from the tables of options of the command.
Usage: completion.py TESSERA FOLDER; writes FOLDER/bash-completion/completions/tessera and
FOLDER/zsh/site-functions/_tessera."""
import sys
from pathlib import Path

from command import choices, describe, flags, takes_file

# ---- bash ----

BASH = """\
# Completion of tessera for bash, made by tools/docs/completion.py from the tables of options.
_tessera() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{commands} help --help --version" -- "$current"))
    return
  fi
  if [[ $command == help ]]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$current"))
    return
  fi
  if [[ $command == plan && ${{COMP_WORDS[2]}} == pgemm ]] && ((COMP_CWORD > 2)); then command="plan pgemm"; fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ $command == run && ${{COMP_WORDS[i]}} == -- ]]; then # the program and its arguments
      COMPREPLY=($(compgen -c -f -- "$current"))
      return
    fi
  done
  case "$command:$before" in
{values}
  esac
  if [[ $current != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  case "$command" in
{options}
  esac
}}
complete -o filenames -F _tessera tessera
"""


def bash_value(name, option):
    """The case for the word after an option that takes a value."""
    if "value" not in option:
        return None
    words, patterns = choices(option), "|".join(f'"{name}:{flag}"' for flag in flags(option))
    found = f'compgen -W "{" ".join(words)}" -- "$current"' if words else 'compgen -f -- "$current"'
    reply = f"COMPREPLY=($({found})); " if words or takes_file(option) else ""
    return f"    {patterns}) {reply}return ;;"


def bash(told):
    values, options = [], []
    for command in told["commands"]:
        name = command["name"]
        values += filter(None, (bash_value(name, option) for option in command["options"]))
        words = " ".join(flag for option in command["options"] for flag in flags(option))
        options.append(f'    "{name}") COMPREPLY=($(compgen -W "{words}" -- "$current")) ;;')
    names = " ".join(command["name"] for command in told["commands"] if " " not in command["name"])
    return BASH.format(commands=names, values="\n".join(values), options="\n".join(options))


# ---- zsh ----

ZSH = """\
#compdef tessera
# Completion of tessera for zsh, made by tools/docs/completion.py from the tables of options.
_tessera() {{
  local -a commands=(
{commands}
    'help:explain a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    _arguments '--help[explain the commands]' '--version[print the version]'
    return
  fi
  local command=$words[2]
  if [[ $command == help ]]; then
    _describe command commands
    return
  fi
  if [[ $command == plan && $words[3] == pgemm ]]; then
    command="plan pgemm"
    shift words; ((CURRENT--))
  fi
  shift words; ((CURRENT--))
  case $command in
{cases}
    *) _files ;;
  esac
}}
_tessera "$@"
"""


def zsh_text(text):
    """A text inside of single quotes and brackets."""
    for letter in "\\[]:":
        text = text.replace(letter, "\\" + letter)
    return text.replace("'", "'\\''")


def zsh_option(option):
    words = choices(option)
    action = f"({' '.join(words)})" if words else "_files" if takes_file(option) else ""
    value = f":{zsh_text(option['value'])}:{action}" if "value" in option else ""
    help_text = zsh_text(option["help"])
    names = flags(option)
    if len(names) == 1:
        return f"'{names[0]}[{help_text}]{value}'"
    return f"'({' '.join(names)})'{{{','.join(names)}}}'[{help_text}]{value}'"


def zsh_case(command):
    program = ["'(-):program:_command_names -e'", "'*::arguments:_normal'"]
    rest = program if command["name"] == "run" else ["'*:file:_files'"]
    rows = " \\\n        ".join([*map(zsh_option, command["options"]), *rest])
    return f'    "{command["name"]}")\n      _arguments -S \\\n        {rows} ;;'


def zsh(told):
    names = [f"    '{c['name']}:{zsh_text(c['help'])}'" for c in told["commands"] if " " not in c["name"]]
    return ZSH.format(commands="\n".join(names), cases="\n".join(map(zsh_case, told["commands"])))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(tessera, folder):
    told = describe(tessera)
    write(Path(folder) / "bash-completion/completions/tessera", bash(told))
    write(Path(folder) / "zsh/site-functions/_tessera", zsh(told))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
