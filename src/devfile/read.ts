import { readByLibrary } from './library-reader.ts'
import { readPlainly } from './plain-reader.ts'
import { type Finding, type Findings, problemAt } from './problem.ts'
import { originOf, type Spot, type Tree } from './tree.ts'

/** 3 MB, as the best known reader of devfiles has it. */
export const LARGEST = 3 * 1024 * 1024
/** The library takes a second for a megabyte, and everybody else would wait. */
const LARGEST_FOR_LIBRARY = 256 * 1024

/** The tree of a YAML or JSON text; `undefined` when it is none, and `findings` say why. Time and memory are bounded. */
export function readTree(name: string, text: string, findings: Findings): Tree | undefined {
  if (text.length > LARGEST) return refuseSize(name, text, findings)
  const origin = originOf(name, text)
  const read = readPlainly(origin)
  if ('kind' in read) return read
  const spot = { origin, at: read.at }
  if (read.tooDeep) return refuse(findings, spot, { rule: 'yaml', message: 'it is nested too deep' })
  if (text.length <= LARGEST_FOR_LIBRARY) return readByLibrary(origin, findings)
  return refuse(findings, spot, {
    rule: 'yaml',
    message: `what stands here is not plain YAML, and a text of more than ${LARGEST_FOR_LIBRARY / 1024} KB has to be`,
    remedy: 'use no anchors, tags, folded texts, tabs and carriage returns',
  })
}

function refuseSize(name: string, text: string, findings: Findings): undefined {
  const size = `${Number((text.length / 1024 / 1024).toPrecision(3))} MB`
  const message = `Devfile size (${size}) exceeds the maximum allowed size of 3 MB`
  return refuse(findings, { origin: originOf(name, ''), at: 0 }, { rule: 'size', message })
}

const refuse = ({ problems }: Findings, spot: Spot, finding: Finding): undefined =>
  void problems.push(problemAt(spot, '', finding))
