/** Writes docs/configuration.md from the tables of settings that the programs read: SETTINGS of src/<program>/config.ts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS as agent } from '../src/agent/index.ts'
import { SETTINGS as agentw } from '../src/agentw/index.ts'
import { SETTINGS as certificates } from '../src/certificates/index.ts'
import { SETTINGS as kas } from '../src/kas/index.ts'
import { SETTINGS as operator } from '../src/operator/index.ts'
import { SETTINGS as proxy } from '../src/proxy/index.ts'
import type { Setting, SettingTable } from '../src/std/index.ts'

/** By the name of the program's folder in src/. */
export const PROGRAMS: Readonly<Record<string, SettingTable>> = { operator, kas, agent, proxy, agentw, certificates }

export const PAGE = join(import.meta.dirname, '../docs/configuration.md')

const INTRODUCTION = `<!-- Written by hack/update-configuration.ts from src/*/config.ts. Change it there. -->
# Configuration

The programs of an installation are set up by flags and environment variables: a flag wins over its variable, the variable over
the default. What a flag takes says its unit: \`<seconds>\`, \`<MiB>\`. Flags without a value are off until they are given; their variables
are \`true\` or \`false\`. Lists have commas between. Where one listens, port 0 lets the kernel choose. A setting that is wrong ends the
program at once (exit code 7), and the message names the setting, the value and a remedy. \`--help\` of each program prints its table.

[deploy/](../deploy) sets the variables that an installation in a cluster needs; add others with an overlay, or with
\`kubectl set env deployment/kas -n berth-system BERTH_SESSION_GRACE=1800\`. Where you lengthen the graces of
[kas](../deploy/kas/program/deployment.yaml) or the [proxy](../deploy/proxy/program/deployment.yaml), lengthen
\`terminationGracePeriodSeconds\` of the Deployment too: it has to be longer than both together.

Of its other environment, kas hands \`PATH\`, \`SSL_CERT_FILE\`, \`SSL_CERT_DIR\` and the proxy variables (\`HTTPS_PROXY\`, \`HTTP_PROXY\`,
\`NO_PROXY\`) to git.
`

/** The page as it should be. */
export const configurationPage = (): string =>
  [INTRODUCTION, ...Object.entries(PROGRAMS).map(([name, settings]) => section(name, settings))].join('\n')

const section = (name: string, settings: SettingTable): string =>
  [
    `## ${name}`,
    '',
    `\`berth ${name === 'agent' ? 'agent run' : name}\`, [src/${name}/config.ts](../src/${name}/config.ts)`,
    '',
    '| flag | variable | default | meaning |',
    '| --- | --- | --- | --- |',
    ...Object.values(settings).map(row),
    '',
  ].join('\n')

function row({ flag, variable, fallback, isRequired, text }: Setting<unknown>): string {
  // A default that is not a value, such as "all", stands in the text.
  const [, before = text, prose, after = ''] = /^(.*) \(default: (.*?)\)(.*)$/.exec(text) ?? []
  const otherwise = isRequired ? '**required**' : fallback ? `\`${fallback}\`` : (prose ?? (flag.includes('<') ? '' : 'off'))
  return `| \`${flag}\` | ${variable ? `\`${variable}\`` : ''} | ${otherwise} | ${before}${after} |`
}

if (import.meta.main) writeFileSync(PAGE, configurationPage())
