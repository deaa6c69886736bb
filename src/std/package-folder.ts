/** The folder of the package, as a URL: the same way up from src/std and from dist/packed, which `hack/bundle.ts` makes. */
export const PACKAGE_FOLDER = new URL('../../', import.meta.url)
