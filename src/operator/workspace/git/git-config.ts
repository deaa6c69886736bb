/** One section of a Git configuration: its name, its subsection, its variables in order. */
export interface Section {
  name: string
  subsection?: string
  variables: readonly (readonly [key: string, value: string])[]
}

/** As Git reads it. Whatever a value holds, it stays a value. */
export const configText = (sections: readonly Section[]): string => sections.map(sectionText).join('')

function sectionText({ name, subsection, variables }: Section): string {
  const title = subsection === undefined ? name : `${name} "${subsection.replace(/[\\"]/g, '\\$&').replaceAll('\n', '')}"`
  return `[${title}]\n${variables.map(([key, value]) => `\t${key} = "${quoted(value)}"\n`).join('')}`
}

const quoted = (value: string): string =>
  value
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(/\p{Cc}/gu, '')
