/** Runes everywhere: one way to hold state, checked by the compiler. */
export default { compilerOptions: { runes: true } };
