// Makes the texts of recipes: reads {recipes, answers} from standard input, and writes for each recipe and each set of
// answers the texts, and each answer as a text has it.

import { readFileSync } from "node:fs";
import { clean, fieldsOf, knownOf, textsOf } from "../../../web/static/recipe.js";

const { recipes, answers } = JSON.parse(readFileSync(0, "utf8"));
const made = recipes.flatMap((recipe) => answers.map((said) => {
  const texts = textsOf(recipe, { ...knownOf(recipe, { name: said.name, people: said.people }), ...said });
  return { game: recipe.game, name: clean(said.name, 100, recipe.avoid), fields: fieldsOf(recipe, {}), newMachine: texts.newMachine?.text ?? "", compose: texts.compose?.text ?? "", docker: texts.docker?.text ?? "" };
}));
process.stdout.write(JSON.stringify(made));
