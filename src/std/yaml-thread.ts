import { type MessagePort, parentPort } from 'node:worker_threads'
import { seconds, systemClock } from './clock.ts'
import { parseYaml } from './yaml.ts'
import type { YamlQuestion } from './yaml-reader.ts'
import { parseYamlTree } from './yaml-tree.ts'

/** Without work it ends; the next text starts another one. */
const IDLE = seconds(10)

/** Answers each text with what `parseYaml` or `parseYamlTree` makes of it. This file is the thread that `yaml-reader.ts` starts. */
function serve(port: MessagePort): void {
  // A broken text may have as many errors as signs; nobody asks where in this program they were found.
  Error.stackTraceLimit = 0
  const rest = () => systemClock.after(IDLE, () => port.close())
  let wake = rest()
  port.on('message', ({ text, tree }: YamlQuestion) => {
    wake()
    port.postMessage(tree ? parseYamlTree(text, tree) : parseYaml(text))
    wake = rest()
  })
}

if (parentPort) serve(parentPort)
