import { type Preview, Previews, typeMetaOf } from '../../src/api/index.ts'
import { slugOf } from '../../src/operator/repository-names/index.ts'

/** As a person makes it, of the project `shop`. */
export const preview = (namespace: string, name: string, spec: Partial<Preview['spec']> = {}): Preview => ({
  ...typeMetaOf(Previews),
  metadata: { name, namespace },
  spec: {
    branches: { project: 'shop' },
    deploymentTargetClassName: 'isolation-level-namespace',
    template: { spec: { source: { path: 'deploy' } } },
    ...spec,
  },
})

/** Two branches for which a Preview has one name. They are found by trying some ten thousand. */
export function branchesOfOneName(): [one: string, other: string] {
  const seen = new Map<string, string>()
  for (let at = 0; ; at++) {
    // No letter of it stands in the name of an object, so that all that tells them apart is a digest.
    const branch = [...String(at)].map((digit) => '零一二三四五六七八九'[Number(digit)]).join('')
    const slug = slugOf(branch, { longest: 20, digits: 8 })
    const other = seen.get(slug)
    if (other !== undefined) return [other, branch]
    seen.set(slug, branch)
  }
}
