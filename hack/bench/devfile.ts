/**
 * Devfiles: `node hack/bench/devfile.ts [--components N] [--runs N]`. One devfile, made here, is read, checked and flattened in one
 * process by one call of the library, again and again, as the operator does: a long text is read in a thread of its own. Below it
 * the floor: the YAML library reading the same text and no more. `cpu ms` is the time of the processor, which other programs on the
 * machine do not lengthen, and `own cpu ms` that of it in which everything else in the process waits.
 */
import { parseArgs } from 'node:util'
import { parseDocument } from 'yaml'
import { flattenDevfile } from '../../src/devfile/index.ts'
import { createYamlTreeReader } from '../../src/std/index.ts'
import { machine, print, quantile } from './figures.ts'

/** As people write them: a container with environment, resources, an endpoint and a mount; each tenth a volume, each fifth a command. */
function devfileOf(components: number): string {
  const lines = ['schemaVersion: 2.3.0', 'metadata:', '  name: bench', 'variables:', '  tag: "24"', 'components:']
  const commands = ['commands:']
  for (let i = 0; i < components; i++) {
    if (i % 10 === 0) lines.push(`  - name: volume-${i}`, '    volume:', '      size: 1Gi')
    else {
      lines.push(`  - name: tools-${i}`, '    container:', '      image: registry.example.com/tools:{{ tag }}')
      lines.push('      env:', '        - name: MODE', '          value: development', '      memoryRequest: 512Mi')
      lines.push('      memoryLimit: 1Gi', '      endpoints:', `        - name: web-${i}`, `          targetPort: ${1000 + i}`)
      lines.push('      volumeMounts:', `        - name: volume-${i - (i % 10)}`, '          path: /cache')
    }
    if (i % 5 === 1) commands.push(`  - id: run-${i}`, '    exec:', '      commandLine: npm start', `      component: tools-${i}`)
  }
  return `${[...lines, ...commands].join('\n')}\n`
}

const PARENT = `schemaVersion: 2.2.0
components:
  - name: base
    container:
      image: base
`
const CHILD = 'parent: { uri: base.yaml, components: [{ name: base, container: { image: other } }] }\n'

async function measure(runs: number, run: () => Promise<void>): Promise<Record<string, number>> {
  const wall: number[] = []
  const cpu: number[] = []
  const own: number[] = []
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    const ownBefore = process.threadCpuUsage()
    const began = performance.now()
    await run()
    wall.push(performance.now() - began)
    cpu.push(milliseconds(process.cpuUsage(before)))
    own.push(milliseconds(process.threadCpuUsage(ownBefore)))
  }
  const secondHalf = (all: number[]) => all.slice(Math.floor(runs / 2))
  return {
    'first ms': wall[0] ?? 0,
    'p50 ms': quantile(secondHalf(wall), 0.5),
    'p99 ms': quantile(secondHalf(wall), 0.99),
    'p50 cpu ms': quantile(secondHalf(cpu), 0.5),
    'p50 own cpu ms': quantile(secondHalf(own), 0.5),
  }
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { components: { type: 'string' }, runs: { type: 'string' } } })
  const components = Number(values.components ?? 200)
  const runs = Number(values.runs ?? 400)
  const text = devfileOf(components)
  process.stdout.write(
    `${machine()}\n${components} components, ${Math.round(text.length / 1024)} KB, ${runs} runs, figures of the second half\n`,
  )
  const tree = createYamlTreeReader()
  const whole = async (given: string) => {
    const read = await flattenDevfile(given, { fetch: () => Promise.resolve({ name: 'base.yaml', text: PARENT }), read: tree })
    if ('problems' in read) throw read.problems
  }
  print('read, checked, flattened', await measure(runs, () => whole(text)))
  print('the same with a parent', await measure(runs, () => whole(`${text}${CHILD}`)))
  print('floor: the YAML library alone', await measure(Math.ceil(runs / 4), async () => void parseDocument(text)))
}

await main()
